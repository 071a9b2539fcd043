/**
 * The few statements that the posting path needs, over the tables in memory, in place of the modules in store/. What they
 * mean is written down once more here, so this is a reading of the SQL, not the SQL.
 */
import { mock } from 'bun:test'
import type { Engagement } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import { type Attempt, PROCESS_STOPPED } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import { fail } from '#kernel/errors'
import type { Effects, Gate, NewWork, Ownership, Requeued } from '#store/engine/letter'
import { type ClaimView, type KeyedWork, LONGEST_NAP_MS } from '#store/engine/work'
import type { SendableRef, takenPosts } from '#store/growth/attempts'
import { isOpen, kept, type Memory, type Row, type Write, write } from './memory.ts'

const DAY = 86_400_000

const find = <T>(all: Map<string, T>, fits: (one: T) => boolean): T | undefined => {
  for (const one of all.values()) if (fits(one)) return one
  return undefined
}
const filter = <T>(all: Map<string, T>, fits: (one: T) => boolean): T[] => {
  const found: T[] = []
  for (const one of all.values()) if (fits(one)) found.push(one)
  return found
}

const isConnected = ({ status }: Connection): boolean => status === 'connected'
const currentDefault = ({ connections }: Memory) => find(connections, (one) => one.is_default && isConnected(one))
const accountFor = (memory: Memory, externalId: string | null): Connection | undefined =>
  externalId === null ? currentDefault(memory) : find(memory.connections, (one) => one.external_id === externalId && isConnected(one))

const keptItems = kept<Item>(
  (memory) => memory.items,
  ({ changes }) => changes.items,
)
const keptEngagements = kept<Engagement>(
  (memory) => memory.engagements,
  ({ changes }) => changes.engagements,
)
const items = { lockItem: keptItems.lock, saveItem: keptItems.save }
const engagements = { lockEngagement: keptEngagements.lock, saveEngagement: keptEngagements.save }

const changed = (id: string, changes: Partial<Attempt>): Write => ({
  row: id,
  change(memory) {
    const before = memory.attempts.get(id)
    const after = { ...before, ...changes } as Attempt
    memory.attempts.set(id, after)
    memory.changes.attempts.push([before, after])
  },
})

const attempts = {
  openAttempt: async (memory: Memory, { record_id }: SendableRef) =>
    find(memory.attempts, (one) => one.record_id === record_id && isOpen(one)),
  attemptById: async (memory: Memory, id: string) => memory.attempts.get(id),
  doubtfulSince: async (memory: Memory, { record_id }: SendableRef) => {
    const isDoubted = (one: Attempt) => isOpen(one) || ['superseded', 'returned'].includes(one.state)
    const own = filter(memory.attempts, (one) => one.record_id === record_id && isDoubted(one))
    return new Date(Math.min(...own.map(({ intent_at }) => +intent_at)))
  },
  triesSoFar: async (memory: Memory, { record_id }: SendableRef) => {
    const own = filter(memory.attempts, (one) => one.record_id === record_id)
    return { count: own.length, doubted: own.filter(({ state }) => state === 'superseded' || state === 'returned').length }
  },
  returnedAttempt: async (memory: Memory, { record_id }: SendableRef, since: Date) =>
    find(memory.attempts, (one) => one.record_id === record_id && one.state === 'returned' && one.ended_at! > since),
  ownedSince: async (memory: Memory, { sendable, connection_id }: Attempt, since: Date) =>
    filter(
      memory.attempts,
      (one) => one.sendable === sendable && one.connection_id === connection_id && one.external_id !== null && one.ended_at! >= since,
    ).map(({ external_id }) => external_id!),
  sameTextOpen: async (memory: Memory, connectionId: string, sha: string) =>
    find(memory.attempts, (one) => one.sendable === 'post' && one.connection_id === connectionId && one.body_sha === sha && isOpen(one)) !==
    undefined,
  unnamedAttempts: (connectionId: string) => async (memory: Memory) => {
    const since = +memory.now() - DAY
    const isByHand = ({ state, external_id, ended_at }: Attempt) =>
      ['posted', 'superseded'].includes(state) && external_id === null && +ended_at! > since
    return filter(memory.attempts, (one) => one.sendable === 'post' && one.connection_id === connectionId && (isOpen(one) || isByHand(one)))
  },
  takenPosts:
    ({ sendable, connectionId, externalIds }: Parameters<typeof takenPosts>[0]) =>
    async (memory: Memory) =>
      filter(
        memory.attempts,
        (one) =>
          one.sendable === sendable &&
          one.connection_id === connectionId &&
          one.external_id !== null &&
          externalIds.includes(one.external_id),
      ),
  attemptsInFlight: async (memory: Memory) => {
    const now = memory.now()
    return filter(
      memory.attempts,
      ({ state, external_id, lease_until, error }) =>
        state === 'open' || (external_id === null && lease_until > now && error === PROCESS_STOPPED),
    )
  },
  insertAttempt: (attempt: Attempt) => () => changed(attempt.id, attempt),
  saveAttempt:
    ({ id, state, doubt_at, doubt_cause, returns_from, clean_reads, proof_reads, external_id, error, ended_at }: Attempt) =>
    () =>
      changed(id, { state, doubt_at, doubt_cause, returns_from, clean_reads, proof_reads, external_id, error, ended_at }),
}

const connections = {
  currentDefault: async (memory: Memory) => currentDefault(memory),
  accountNamed: async (memory: Memory, { externalId }: { externalId: string }) =>
    find(memory.connections, (one) => one.external_id === externalId),
  countConnected: async (memory: Memory) => filter(memory.connections, ({ status }) => status === 'connected').length,
  accountFor: async (memory: Memory, externalId: string | null) => accountFor(memory, externalId),
  lockConnection: async (memory: Memory, id: string) => memory.connections.get(id) ?? fail('not_found', 'no such connected account'),
  connectionById: (id: string) => async (memory: Memory) => [memory.connections.get(id)],
  upsertConnection: (connection: Connection) => (): Write => ({
    row: `connections ${connection.external_id}`,
    change({ connections: all }) {
      const id = find(all, (one) => one.external_id === connection.external_id)?.id ?? connection.id
      all.set(id, { ...connection, id })
    },
  }),
  disconnect: (id: string) => (): Write => ({
    row: id,
    change: ({ connections: all }) => void all.set(id, { ...all.get(id)!, status: 'disconnected', is_default: false }),
  }),
  makeDefault: (id: string) => (): Write => ({
    row: 'connections default',
    change({ connections: all }) {
      for (const [key, one] of all) all.set(key, { ...one, is_default: key === id })
    },
  }),
}

const keyOf = (memory: Memory, row: Row): string => row.concurrency_key ?? `publish:${currentDefault(memory)?.external_id ?? ''}`

const comesFirst = (one: Row, other: Row): boolean => +one.run_at < +other.run_at || (+one.run_at === +other.run_at && one.id < other.id)

/** The first row that may be claimed by `until`, of all or of those that a person asked for. */
const first = (
  memory: Memory,
  { busy, paused, excluded }: ClaimView,
  { manual = false, after = 0, until = Number.POSITIVE_INFINITY } = {},
) => {
  let found: Row | undefined
  for (const row of memory.works.values()) {
    if (row.state !== 'queued' || +row.run_at > until || +row.run_at <= after || ((paused || manual) && row.origin !== 'manual')) continue
    if ((found && !comesFirst(row, found)) || excluded.includes(row.id) || busy.includes(keyOf(memory, row))) continue
    found = row
  }
  return found
}

const works = {
  nextDue: async (memory: Memory, view: ClaimView): Promise<KeyedWork | undefined> => {
    const until = +view.now
    const found = first(memory, view, { until, manual: true }) ?? first(memory, view, { until })
    return found && { ...found, concurrency_key: keyOf(memory, found) }
  },
  untilNextDue: async (memory: Memory, view: ClaimView) => {
    const nap = +view.now + LONGEST_NAP_MS
    const found = first(memory, view, { until: nap }) ?? first(memory, { ...view, busy: [] }, { after: nap })
    return found && +found.run_at - +view.now
  },
  workById: async (memory: Memory, id: string) => memory.works.get(id),
  workOf: async (memory: Memory, kind: string, refId: string) => find(memory.works, (one) => one.kind === kind && one.ref_id === refId),
  runningElsewhere: async (memory: Memory, live: string[]) =>
    filter(memory.works, ({ id, state }) => state === 'running' && !live.includes(id)),
  workOfKinds: async (memory: Memory, kinds: readonly string[]) => filter(memory.works, ({ kind }) => kinds.includes(kind)),
  claimWork:
    ({ id, attempt, concurrency_key }: KeyedWork, { owner, leaseUntil }: { owner: string; leaseUntil: Date }) =>
    (): Write =>
      updated(id, { state: 'running', claimed_by: owner, lease_until: leaseUntil, attempt: attempt + 1, concurrency_key }),
}

/** An update of a row that is gone changes nothing. */
const updated = (id: string, changes: Partial<Row>): Write => ({
  row: id,
  change({ works: all }) {
    const row = all.get(id)
    if (row) all.set(id, { ...row, ...changes })
  },
})

/** One row there is of a kind and a record: a new look at what is watched already takes its row. */
const added = ({ refId, runAt, payload = {}, key, ...work }: NewWork): Write => ({
  row: work.id,
  change(memory) {
    const { works: all } = memory
    const same = find(all, ({ kind, ref_id }) => kind === work.kind && ref_id === refId)
    if (same && work.second !== 'replaces') memory.onBroken(`two rows of work ${work.kind} for ${refId}`)
    const fresh = {
      ...{ ref_id: refId, run_at: runAt, payload, concurrency_key: key },
      ...({ state: 'queued', claimed_by: null, lease_until: null } as const),
    }
    all.set(same?.id ?? work.id, { attempt: 0, ...same, ...work, ...fresh, id: same?.id ?? work.id })
  },
})

const requeued = ({ id, runAt, origin, payload, key }: Requeued): Write =>
  updated(id, {
    ...{ state: 'queued', run_at: runAt, claimed_by: null, lease_until: null },
    ...(origin ? { origin } : {}),
    ...(payload ? { payload } : {}),
    ...(key === undefined ? {} : { concurrency_key: key }),
  })

const nothing: Write = { row: '', change: () => {} }

const letters = {
  gate: async (memory: Memory, own: Ownership): Promise<Gate | undefined> => {
    memory.command = undefined
    if (memory.owner !== own.owner || memory.epoch !== own.epoch) return undefined
    // No history has rules.
    const plan = { plan: 'team', billing: 'ok', overrides: { post_now: 1e9, execute_engagement: 1e9 } } as const
    return { now: memory.now(), paused: memory.paused, plan, counters: {}, seen: null, webhook: null, awaited: [], deletesAt: null }
  },
  /** True when there was something to write. */
  apply: async (memory: Memory, effects: Effects) => {
    const { first: before = [], writes = [], work = [], requeued: again = [], settled = [], events = [], audit, paused } = effects
    for (const make of before) write(memory, [(make as unknown as () => Write)()])
    const staged: Write[] = []
    for (const make of writes) {
      const one = (make as unknown as () => Write)()
      if (one !== nothing) staged.push(one)
    }
    // Counting and reporting send nothing: no lane here does that.
    for (const one of work) if (one.kind === 'send' || one.kind === 'reconcile') staged.push(added(one))
    for (const one of again) staged.push(requeued(one))
    for (const id of new Set(settled)) staged.push({ row: id, change: (tables) => void tables.works.delete(id) })
    if (events.length > 0) staged.push({ row: 'events', change: (tables) => void tables.events.push(...events) })
    if (paused !== undefined) staged.push({ row: 'actor', change: (tables) => void Object.assign(tables, { paused }) })
    write(memory, staged)
    return staged.length > 0 || before.length > 0 || writes.length > 0 || audit !== undefined
  },
  readingOnly: <T>(sql: T): T => sql,
}

const idempotency = { resolvePending: () => () => nothing, forgetPending: () => () => nothing }

const profiles = { currentProfile: async () => ({ profile: { on_missed: 'post' }, created_at: null, updated_at: null }) }

/** A workspace without rules of form, of which no history is about. */
const growthChannels = { channelNamed: async () => undefined }

/** A workspace that watches nobody. */
const targets = { watchesWithoutAccount: async () => [] }

/** Nor are numbers read. */
const metrics = { hasReadable: async () => false }

let made = 0
/** In order, and the same in every run of a history. */
const ids = { newId: () => `00000000-0000-7000-8000-${String(made++).padStart(12, '0')}` }
export const restartIds = (): void => {
  made = 0
}

/** The same texts come again and again, and their fingerprints cost more than all the rest. */
const remembered = <T>(compute: (text: string) => T) => {
  const known = new Map<string, T>()
  return (text: string): T => {
    if (!known.has(text)) known.set(text, compute(text))
    return known.get(text)!
  }
}

/** Puts the memory in the place of the store for everything that is imported after this. */
export const installMemory = async (): Promise<void> => {
  const { fingerprintText } = await import('#port/network/text')
  const fakes = {
    'growth/items': items,
    'growth/engagements': engagements,
    'growth/attempts': attempts,
    'growth/connections': connections,
    'growth/profiles': profiles,
    'growth/targets': targets,
    'growth/metrics': metrics,
    'growth/growth-channels': growthChannels,
    'engine/work': works,
    'engine/letter': letters,
    'engine/idempotency': idempotency,
  }
  for (const [name, fake] of Object.entries(fakes)) await replace(`#store/${name}`, fake)
  await replace('#kernel/ids', ids)
  await replace('#port/network/text', { fingerprintText: remembered(fingerprintText) })
}

const replace = async (specifier: string, fake: object): Promise<void> => {
  const real = { ...(await import(specifier)) }
  for (const name of Object.keys(fake)) if (!(name in real)) throw new Error(`${specifier} has no ${name} any more`)
  mock.module(Bun.resolveSync(specifier, import.meta.dir), () => ({ ...real, ...fake }))
}
