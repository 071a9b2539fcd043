/**
 * The few statements that the posting path needs, over the tables in memory, in place of the
 * modules in store/. What they mean is written down once more here, so this is a reading of the
 * SQL, not the SQL.
 */
import { emptyProfile } from '#domain/growth/drafting/profile'
import type { Connection } from '#domain/growth/sending/connection'
import type { Opened } from '#store/engine/gate'
import type { Effects, Ownership } from '#store/engine/letter'
import type { Load } from '#store/engine/load'
import { committed, type Memory, type Write, write } from './memory.ts'
import { replace } from './replace.ts'
import { accountFor, attempts } from './statements-of-attempts.ts'
import { engagements, items } from './statements-of-records.ts'
import {
  added,
  currentDefault,
  filter,
  find,
  loads,
  part,
  parts,
  polls,
  requeued,
  works,
} from './work.ts'

const choices = (memory: Memory, but: string | null) =>
  filter(memory.connections, ({ id, status }) => status === 'connected' && id !== but)

const connections = {
  currentDefault: async (memory: Memory) => currentDefault(memory),
  accountNamed: async (memory: Memory, { externalId }: { externalId: string }) =>
    find(memory.connections, (one) => one.external_id === externalId),
  countConnected: async (memory: Memory) =>
    filter(memory.connections, ({ status }) => status === 'connected').length,
  accountFor: async (memory: Memory, externalId: string | null) => accountFor(memory, externalId),
  connectionPart: (id: string) => part((memory) => memory.connections.get(id)),
  accountOfItem: (id: string) =>
    part((memory) => {
      const chosen = memory.items.get(id)?.account_id ?? null
      return chosen === null ? currentDefault(memory) : memory.connections.get(chosen)
    }),
  defaultPart: part(currentDefault),
  handleOf: (externalId: string) => async (memory: Memory) =>
    find(memory.connections, ({ external_id }) => external_id === externalId)?.handle,
  // Its accounts are connected or not: their network takes no credentials.
  needsSignIn: async () => false,
  choicesBut: (but: string | null) => async (memory: Memory) => choices(memory, but),
  choicesPart: parts((memory) => choices(memory, null)),
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
    change: ({ connections: all }) =>
      void all.set(id, { ...all.get(id)!, status: 'disconnected', is_default: false }),
  }),
  makeDefault: (id: string) => (): Write => ({
    row: 'connections default',
    change({ connections: all }) {
      for (const [key, one] of all) all.set(key, { ...one, is_default: key === id })
    },
  }),
}

/** In no history does the operator pause, or hold the deployment. */
const automation = {
  pauseOf: part((memory) => ({
    paused: memory.paused,
    since: null,
    by: null,
    held: null,
    everywhere: null,
    now: memory.now(),
  })),
}

const nothing: Write = { row: '', change: () => {} }

const gate = {
  openGate: async (
    memory: Memory,
    own: Ownership,
    { load }: { load: Load },
  ): Promise<Opened<Load> | undefined> => {
    memory.command = undefined
    if (memory.owner !== own.owner || memory.epoch !== own.epoch) return undefined
    // No history has rules.
    const plan = {
      plan: 'team',
      billing: 'ok',
      overrides: { post_now: 1e9, execute_engagement: 1e9 },
    } as const
    const facts = {
      plan,
      counters: {},
      seen: null,
      webhook: null,
      awaited: [],
      networks: [],
      deletesAt: null,
    }
    return {
      gate: {
        now: memory.now(),
        paused: memory.paused,
        pausedHere: memory.paused,
        heldSince: null,
        pausedEverywhere: null,
        wakeAt: null,
        ...facts,
      },
      loaded: await loads.loadNow(memory, load),
    }
  },
  lockActor: async () => {},
}

const effects = {
  /** True when there was something to write. */
  apply: async (memory: Memory, effects: Effects, { commits }: { commits?: () => boolean }) => {
    const {
      first: before = [],
      writes = [],
      work = [],
      requeued: again = [],
      settled = [],
      events = [],
      audit,
      paused,
    } = effects
    for (const make of before) write(memory, [(make as unknown as () => Write)()])
    const staged: Write[] = []
    for (const make of writes) {
      const one = (make as unknown as () => Write)()
      if (one !== nothing) staged.push(one)
    }
    // The only work kept here is sends and the reads that follow them.
    for (const one of work)
      if (one.kind === 'send' || one.kind === 'reconcile') staged.push(added(one))
    for (const one of again) staged.push(requeued(one))
    for (const id of new Set(settled))
      staged.push({ row: id, change: (tables) => void tables.works.delete(id) })
    if (events.length > 0)
      staged.push({ row: 'events', change: (tables) => void tables.events.push(...events) })
    if (paused !== undefined)
      staged.push({ row: 'actor', change: (tables) => void Object.assign(tables, { paused }) })
    const isLast = staged.length > 0 && before.length === 0 && commits?.() === true
    write(memory, staged)
    if (isLast) committed(memory)
    return staged.length > 0 || before.length > 0 || writes.length > 0 || audit !== undefined
  },
}

const letters = { readingOnly: <T>(sql: T): T => sql }

const idempotency = { resolvePending: () => () => nothing, forgetPending: () => () => nothing }

const profile = {
  profile: { ...emptyProfile, on_missed: 'post' },
  created_at: null,
  updated_at: null,
}
const profiles = { currentProfile: async () => profile, profilePart: part(() => profile) }

/** A workspace without rules of form, of which no history is about. */
const growthChannels = {
  channelNamed: async () => undefined,
  channelPart: () => part(() => undefined),
  channelsPart: () => parts(() => []),
}

/** Whether another post has the minute is only warned of here. */
const calendar = { slotTaker: () => part(() => undefined) }

/** A workspace that watches nobody. */
const targets = { watchesWithoutAccount: async () => [] }

/** Nor are numbers read. */
const metrics = { hasReadable: async () => false }

/** Nor has it an agent. */
const steps = { callsInFlight: parts(() => []) }
const approvals = { waitingCallsAbout: () => parts(() => []) }
const channelReplies = { repliesInFlight: parts(() => []) }

/**
 * Earlier texts are not kept, nor is anything looked for that repeats them; and there are no
 * signals.
 */
const revisions = { keepRevision: () => [() => nothing] }
const signals = { reopenSignal: () => [], engageAgain: () => [] }
const itemPrints = {
  keepPrints: () => () => nothing,
  dropPrints: () => () => nothing,
  repeatedPart: () => part(() => null),
}

/** Nobody gives a reason for a rejection. */
const comments = { newestRejection: () => part(() => undefined) }

/** Nobody looks for items by their words. */
const itemWords = { insertItemWords: () => () => nothing, keepWords: () => () => nothing }

/** Of work, only sends and what reads for them is kept. */
const standing = {
  recordStanding: () => part(() => ({ awaited: true, metrics: null, weekly_report: null })),
}

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
    'agent/steps': steps,
    'agent/approvals': approvals,
    'agent/channel-replies': channelReplies,
    'growth/items': items,
    'growth/engagements': engagements,
    'growth/attempts': attempts,
    'growth/connections': connections,
    'growth/profiles': profiles,
    'growth/calendar': calendar,
    'growth/targets': targets,
    'growth/metrics': metrics,
    'growth/growth-channels': growthChannels,
    'growth/comments': comments,
    'growth/automation': automation,
    'growth/standing': standing,
    'growth/revisions': revisions,
    'growth/signals': signals,
    'growth/item-prints': itemPrints,
    'growth/item-words': itemWords,
    'engine/work': works,
    'engine/next-due': polls,
    'engine/gate': gate,
    'engine/letter': letters,
    'engine/apply-effects': effects,
    'engine/load': loads,
    'engine/idempotency': idempotency,
  }
  for (const [name, fake] of Object.entries(fakes)) await replace(`#store/${name}`, fake)
  await replace('#kernel/ids', ids)
  await replace('#port/network/text', { fingerprintText: remembered(fingerprintText) })
}
