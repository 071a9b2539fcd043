/**
 * The tables of one workspace in memory, with the few statements that the posting path needs, in place of the modules in
 * store/. What they mean is written down once more here, so this is a reading of the SQL, not the SQL.
 */
import { mock } from 'bun:test'
import type { Connection } from '#domain/connection'
import type { Item } from '#domain/item'
import { type Attempt, PROCESS_STOPPED } from '#domain/publish'
import { AppError, fail } from '#kernel/errors'
import type { Sql } from '#store/db'
import type { Effects, Gate, NewWork, Ownership } from '#store/letter'
import type { Busy, Work } from '#store/work'

type Row = Omit<Work, 'slot'>

export interface Tables {
  items: Map<string, Item>
  attempts: Map<string, Attempt>
  works: Map<string, Row>
  connections: Map<string, Connection>
  owner: string
  epoch: number
  paused: boolean
  events: { type: string; data: Record<string, unknown> }[]
}

/** One changed row; a statement that changes a row twice would change it once, so that is an error here. */
interface Write {
  row: string
  change(tables: Tables): void
}

/** Which command of a person a letter carries. */
export interface Commanded {
  name: string
  id?: string
}

export interface Memory extends Tables {
  now(): Date
  /** What goes wrong with the next letters: nothing of one happens, or all of it and its sender does not hear of it. */
  failures: ('before' | 'after')[]
  command: Commanded | undefined
  staged: Write[]
  turn: Promise<unknown>
  /** Told of every commit, with the items as they were. */
  onCommit(before: ReadonlyMap<string, Item>, command: Commanded | undefined): void
}

export const newMemory = (now: () => Date): Memory => ({
  items: new Map(),
  attempts: new Map(),
  works: new Map(),
  connections: new Map(),
  owner: '',
  epoch: 0,
  paused: false,
  events: [],
  now,
  failures: [],
  command: undefined,
  staged: [],
  turn: Promise.resolve(),
  onCommit: () => {},
})

const commit = (memory: Memory): void => {
  const before = new Map(memory.items)
  const rows = new Set<string>()
  for (const { row, change } of memory.staged) {
    if (rows.has(row)) throw new Error(`one statement changes ${row} twice`)
    rows.add(row)
    change(memory)
  }
  memory.onCommit(before, memory.command)
}

/** One letter's transaction, alone, as under the row lock of the workspace. */
export const letter = <T>(memory: Memory, body: (sql: Sql) => Promise<T>): Promise<T> => {
  const run = async (): Promise<T> => {
    Object.assign(memory, { staged: [], command: undefined })
    const failure = memory.failures.shift()
    if (failure === 'before') throw new AppError('unavailable', 'the database cannot be reached')
    const result = await body(memory as unknown as Sql)
    commit(memory)
    if (failure === 'after') throw new AppError('unavailable', 'the answer to the commit was lost')
    return result
  }
  const running = memory.turn.then(run)
  memory.turn = running.catch(() => {})
  return running
}

type Rows = 'items' | 'attempts' | 'works' | 'connections'

const patch = (table: Rows, id: string, changes: object): Write => ({
  row: `${table} ${id}`,
  change: (tables) => void (tables[table] as Map<string, object>).set(id, { ...tables[table].get(id), ...changes }),
})
const noRow = (row: string): Write => ({ row, change: () => {} })

const OPEN = ['open', 'doubt', 'review']
const DAY = 86_400_000
const isConnected = ({ status }: Connection): boolean => status === 'connected'
const currentDefault = ({ connections }: Memory): Connection | undefined =>
  [...connections.values()].find((one) => one.is_default && isConnected(one))
const accountFor = (memory: Memory, externalId: string | null): Connection | undefined =>
  externalId === null
    ? currentDefault(memory)
    : [...memory.connections.values()].find((one) => one.external_id === externalId && isConnected(one))
const openOf = ({ attempts }: Memory): Attempt[] => [...attempts.values()].filter(({ state }) => OPEN.includes(state))

const withSlot = (memory: Memory, row: Row): Work => {
  const account = memory.items.get(row.ref_id)?.account_external_id ?? currentDefault(memory)?.external_id ?? ''
  return { ...row, slot: row.lane === 'publish' ? `publish:${account}` : row.lane }
}
const worksOf = (memory: Memory): Work[] => [...memory.works.values()].map((row) => withSlot(memory, row))
const claimable = (memory: Memory, { busy, paused, resting }: Busy): Work[] =>
  worksOf(memory)
    .filter(
      ({ state, id, origin, slot }) =>
        state === 'queued' && !resting.includes(id) && !(paused && origin !== 'manual') && !busy.includes(slot),
    )
    .sort((one, other) => +one.run_at - +other.run_at || (one.id < other.id ? -1 : 1))

const items = {
  lockItem: async ({ items: all }: Memory, id: string) => all.get(id) ?? fail('not_found', 'no such item'),
  saveItem: (item: Item) => () => patch('items', item.id, item),
}

const attempts = {
  openAttempt: async (memory: Memory, itemId: string) => openOf(memory).find((one) => one.item_id === itemId),
  attemptCount: async (memory: Memory, itemId: string) => [...memory.attempts.values()].filter((one) => one.item_id === itemId).length,
  sameTextOpen: async (memory: Memory, connectionId: string, sha: string) =>
    openOf(memory).some((one) => one.connection_id === connectionId && one.body_sha === sha),
  unnamedAttempts: (connectionId: string) => async (memory: Memory) =>
    [...memory.attempts.values()]
      .filter(({ connection_id, state, external_id, ended_at }) => {
        const byHand = state === 'posted' && external_id === null && +ended_at! > +memory.now() - DAY
        return connection_id === connectionId && (OPEN.includes(state) || byHand)
      })
      .map((one) => ({ ...one, body: memory.items.get(one.item_id)!.body })),
  takenPosts: (connectionId: string, ids: string[]) => async (memory: Memory) =>
    [...memory.attempts.values()].filter((one) => one.connection_id === connectionId && ids.includes(one.external_id ?? '')),
  attemptsInFlight: async (memory: Memory) =>
    [...memory.attempts.values()].filter(
      ({ state, lease_until, error }) => state === 'open' || (state === 'doubt' && lease_until > memory.now() && error === PROCESS_STOPPED),
    ),
  insertAttempt: (attempt: Attempt) => () => patch('attempts', attempt.id, attempt),
  saveAttempt:
    ({ id, state, doubt_at, clean_reads, external_id, error, ended_at }: Attempt) =>
    () =>
      patch('attempts', id, { state, doubt_at, clean_reads, external_id, error, ended_at }),
}

const connections = {
  currentDefault: async (memory: Memory) => currentDefault(memory),
  accountFor: async (memory: Memory, externalId: string | null) => accountFor(memory, externalId),
  lockConnection: async (memory: Memory, id: string) => memory.connections.get(id) ?? fail('not_found', 'no such connected account'),
  connectionById: (id: string) => async (memory: Memory) => [memory.connections.get(id)],
  upsertConnection: (connection: Omit<Connection, 'status'>) => () => ({
    row: `connections ${connection.external_id}`,
    change: (tables: Tables) => {
      const known = [...tables.connections.values()].find((one) => one.external_id === connection.external_id)
      const id = known?.id ?? connection.id
      tables.connections.set(id, { ...connection, id, status: 'connected' })
    },
  }),
  disconnect: (id: string) => () => patch('connections', id, { status: 'disconnected', is_default: false }),
  makeDefault: (id: string) => () => ({
    row: 'connections default',
    change: (tables: Tables) => {
      for (const [key, one] of tables.connections) tables.connections.set(key, { ...one, is_default: key === id })
    },
  }),
}

const works = {
  nextDue: async (memory: Memory, view: Busy) => {
    const due = claimable(memory, view).filter(({ run_at }) => run_at <= memory.now())
    return due.find(({ origin }) => origin === 'manual') ?? due[0]
  },
  untilNextDue: async (memory: Memory, view: Busy) => {
    const [first] = claimable(memory, view)
    return first && +first.run_at - +memory.now()
  },
  workById: async (memory: Memory, id: string) => worksOf(memory).find((one) => one.id === id),
  workOf: async (memory: Memory, kind: string, refId: string) => worksOf(memory).find((one) => one.kind === kind && one.ref_id === refId),
  runningElsewhere: async (memory: Memory, live: string[]) =>
    worksOf(memory).filter(({ id, state }) => state === 'running' && !live.includes(id)),
  automaticWork: async (memory: Memory, state: string, lane: string) =>
    worksOf(memory).filter((one) => one.state === state && one.origin === 'automatic' && one.lane === lane),
  claimWork:
    ({ id, attempt }: Work, { owner, leaseUntil }: { owner: string; leaseUntil: Date }) =>
    () =>
      patch('works', id, { state: 'running', claimed_by: owner, lease_until: leaseUntil, attempt: attempt + 1 }),
}

const added = ({ refId, runAt, payload = {}, ...work }: NewWork): Write =>
  patch('works', work.id, {
    ...work,
    ref_id: refId,
    run_at: runAt,
    payload,
    state: 'queued',
    attempt: 0,
    claimed_by: null,
    lease_until: null,
  })

const requeued = ({ id, runAt, origin, payload }: NonNullable<Effects['requeued']>[number]): Write => ({
  row: `works ${id}`,
  change: ({ works: all }) => {
    const row = all.get(id)
    if (!row) return
    const queued = { state: 'queued', run_at: runAt, claimed_by: null, lease_until: null } as const
    all.set(id, { ...row, ...queued, ...(origin ? { origin } : {}), ...(payload ? { payload } : {}) })
  },
})

const letters = {
  gate: async (memory: Memory, own: Ownership): Promise<Gate | undefined> => {
    if (memory.owner !== own.owner || memory.epoch !== own.epoch) return undefined
    const plan = { plan: 'team', billing: 'ok', overrides: { post_now: 1e9 } } as const
    return { now: memory.now(), paused: memory.paused, plan, counters: {}, seen: null }
  },
  apply: async (memory: Memory, effects: Effects) => {
    memory.staged.push(...(effects.writes ?? []).map((write) => (write as unknown as () => Write)()))
    memory.staged.push(...(effects.work ?? []).map(added), ...(effects.requeued ?? []).map(requeued))
    for (const id of effects.settled ?? []) memory.staged.push({ row: `works ${id}`, change: (tables) => void tables.works.delete(id) })
    for (const [index, event] of (effects.events ?? []).entries())
      memory.staged.push({ row: `event ${index}`, change: (tables) => void tables.events.push(event) })
    const { paused } = effects
    if (paused !== undefined) memory.staged.push({ row: 'actor', change: (tables) => Object.assign(tables, { paused }) })
    return memory.staged.length > 0
  },
  resolvePending: (refId: string) => () => noRow(`answer ${refId}`),
  forgetPending: (refId: string) => () => noRow(`answer ${refId}`),
}

const profiles = { currentProfile: async () => ({ profile: { on_missed: 'post' }, created_at: null, updated_at: null }) }

let made = 0
/** In order, and the same in every run. */
const ids = { newId: () => `00000000-0000-7000-8000-${String(made++).padStart(12, '0')}` }

/** Puts the memory in the place of the store for everything that is imported after this. */
export const installMemory = async (): Promise<void> => {
  const fakes = { items, attempts, connections, work: works, letter: letters, profiles }
  for (const [name, fake] of Object.entries(fakes)) await replace(`#store/${name}`, fake)
  await replace('#kernel/ids', ids)
}

const replace = async (specifier: string, fake: object): Promise<void> => {
  const real = { ...(await import(specifier)) }
  for (const name of Object.keys(fake)) if (!(name in real)) throw new Error(`${specifier} has no ${name} any more`)
  mock.module(Bun.resolveSync(specifier, import.meta.dir), () => ({ ...real, ...fake }))
}
