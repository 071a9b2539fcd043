/** Rows that keep the process busy: the loop's watch is told of it. */
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import {
  type Actors,
  type ActorsOptions,
  actorStore,
  actorsOn,
  counters,
  type FakeLane,
  fakeLane,
  type Store,
} from '#test/support/actors/actors'
import { addWork, letterOf, workOn } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'

const STALL_MS = 3_000
export const places = ['claim', 'run', 'settle'] as const
type Place = (typeof places)[number]

const counted = (key: string): Effects => ({ spend: [{ key, period: 'test', amount: 1 }] })

/** What the loop's watch of one process says. */
export const toldLoop = () => {
  const stalls: number[] = []
  return {
    stall: () => void stalls.push(performance.now()),
    busyIn: (from: number, until = Number.POSITIVE_INFINITY) =>
      stalls.some((at) => from <= at && at <= until) ? STALL_MS : 0,
    [Symbol.dispose]() {},
  }
}
type Loop = ReturnType<typeof toldLoop>

/** The database does that when a transaction has been idle for two seconds. */
const loseSession = async (sql: Sql): Promise<void> => {
  await sql`select set_config('idle_in_transaction_session_timeout', '20', true)`
  await new Promise(() => {})
}

export interface Poison {
  refs: string[]
  place: Place
  /** What a stall costs beside the session of its own transaction. */
  cost?: (refId: string) => Promise<void>
  /** Tries by record. */
  tries: Map<string, number>
  /** Runs of others. */
  running?: (refId: string) => Promise<void>
  /** Whether the row of another record goes on after this outcome. */
  goesOn?: (refId: string) => boolean
}

/** Rows that go on, over and over, as deliveries do, but those of `refs` keep the process busy. */
const laneWith = (poison: Poison, loop: Loop) => {
  const suffer = async (place: Place, refId: string, sql?: Sql): Promise<void> => {
    if (poison.place !== place || !poison.refs.includes(refId)) return
    poison.tries.set(refId, triesOf(poison, refId) + 1)
    loop.stall()
    await poison.cost?.(refId)
    if (sql) await loseSession(sql)
  }
  const usual = fakeLane({ instant: true })
  return Object.assign(usual, {
    // Rows whose process has died are simply due again.
    orphaned: undefined as never,
    claim: async (...[sql, , work]: Parameters<FakeLane['claim']>) => {
      await suffer('claim', work.ref_id, sql)
      return { job: { refId: work.ref_id }, decision: { reply: undefined } }
    },
    run: async ({ refId }: { refId: string }) => {
      await suffer('run', refId)
      if (!poison.refs.includes(refId)) await poison.running?.(refId)
      return 'done'
    },
    settle: async (...[sql, gate, { work }]: Parameters<FakeLane['settle']>) => {
      await suffer('settle', work.ref_id, sql)
      if (poison.refs.includes(work.ref_id) || poison.goesOn?.(work.ref_id))
        return { reply: undefined, effects: { requeued: [{ id: work.id, runAt: gate.now }] } }
      return {
        reply: undefined,
        effects: { settled: [work.id], ...counted(`settled:${work.ref_id}`) },
      }
    },
    givenUp: async (...[, , work]: Parameters<FakeLane['claim']>) => ({
      reply: undefined,
      effects: { settled: [work.id], ...counted(`ended:${work.ref_id}:${work.state}`) },
    }),
  })
}

export const triesOf = ({ tries }: Poison, refId: string): number => tries.get(refId) ?? 0

export interface World extends AsyncDisposable {
  store: Store
  tenant: string
  poison: Poison
  /** Starts a process. */
  start(more?: ActorsOptions): Promise<Actors>
  /**
   * Adds the rows in question to a workspace that is awake, by the process that was started first.
   */
  add(...refs: string[]): Promise<void>
  /** Waits until a row has ended, and how. */
  ended(refId: string): Promise<string>
}

export const worldOf = async (place: Place): Promise<World> => {
  await using stack = new AsyncDisposableStack()
  const store = stack.use(await actorStore())
  const { workTable } = await import('#decisions/work')
  const kinds = { ...workTable, inVain: { fake: { most: 3, end: 'ends' as const } } }
  const poison: Poison = { refs: [newId()], place, tries: new Map() }
  const tenant = await store.newTenant()
  let first: Actors | undefined
  const start = async (more: ActorsOptions = {}) => {
    const loop = toldLoop()
    const actors = await actorsOn(store, {
      lanes: [laneWith(poison, loop)],
      kinds,
      ...more,
      trouble: { ...more.trouble, loop },
    })
    first ??= owned.use(actors)
    return actors
  }
  const add = async (...refs: string[]) => {
    await first!.runtime.ask(
      tenant,
      letterOf(() => ({ reply: undefined })),
    )
    await eventually(() => first!.runtime.idle, Boolean)
    await first!.runtime.ask(tenant, addWork(...refs.map((ref) => workOn(ref, { key: ref }))))
  }
  const ended = async (refId: string) => {
    const found = await eventually(
      async () =>
        Object.keys(await counters(store, tenant)).find((key) => key.startsWith(`ended:${refId}`)),
      Boolean,
      50_000,
    )
    return found!.split(':').at(-1)!
  }
  const owned = stack.move()
  return {
    store,
    tenant,
    poison,
    start,
    add,
    ended,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
