/**
 * Rows that keep the process busy do so three times at most, wherever they do and whatever that costs: connections, the lease, or the letter
 * that counts it. The loop's watch is told of stalls here; test/faults/starve/starve.harness.ts has real ones.
 */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import type { Effects } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import {
  type Actors,
  type ActorsOptions,
  actorStore,
  actorsOn,
  counters,
  type FakeLane,
  fakeLane,
  kill,
  laneThatHangs,
  type Store,
} from '#test/support/actors/actors'
import { testFailpoints } from '#test/support/actors/failpoints'
import { addWork, letterOf, newGate, workOn } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'

const STALL_MS = 3_000
const places = ['claim', 'run', 'settle'] as const
type Place = (typeof places)[number]

const counted = (key: string): Effects => ({ spend: [{ key, period: 'test', amount: 1 }] })

/** What the loop's watch of one process says. */
const toldLoop = () => {
  const stalls: number[] = []
  return {
    stall: () => void stalls.push(performance.now()),
    busyIn: (from: number, until = Number.POSITIVE_INFINITY) => (stalls.some((at) => from <= at && at <= until) ? STALL_MS : 0),
    [Symbol.dispose]() {},
  }
}
type Loop = ReturnType<typeof toldLoop>

/** The database does that when a transaction has been idle for two seconds. */
const loseSession = async (sql: Sql): Promise<void> => {
  await sql`select set_config('idle_in_transaction_session_timeout', '20', true)`
  await new Promise(() => {})
}

interface Poison {
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
      return { reply: undefined, effects: { settled: [work.id], ...counted(`settled:${work.ref_id}`) } }
    },
    givenUp: async (...[, , work]: Parameters<FakeLane['claim']>) => ({
      reply: undefined,
      effects: { settled: [work.id], ...counted(`ended:${work.ref_id}:${work.state}`) },
    }),
  })
}

const triesOf = ({ tries }: Poison, refId: string): number => tries.get(refId) ?? 0

interface World extends AsyncDisposable {
  store: Store
  tenant: string
  poison: Poison
  /** Starts a process. */
  start(more?: ActorsOptions): Promise<Actors>
  /** Adds the rows in question to a workspace that is awake, by the process that was started first. */
  add(...refs: string[]): Promise<void>
  /** Waits until a row has ended, and how. */
  ended(refId: string): Promise<string>
}

const worldOf = async (place: Place): Promise<World> => {
  await using stack = new AsyncDisposableStack()
  const store = stack.use(await actorStore())
  const { workTable } = await import('#decisions/work')
  const kinds = { ...workTable, inVain: { fake: { most: 3, end: 'ends' as const } } }
  const poison: Poison = { refs: [newId()], place, tries: new Map() }
  const tenant = await store.newTenant()
  let first: Actors | undefined
  const start = async (more: ActorsOptions = {}) => {
    const loop = toldLoop()
    const actors = await actorsOn(store, { lanes: [laneWith(poison, loop)], kinds, ...more, trouble: { ...more.trouble, loop } })
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
      async () => Object.keys(await counters(store, tenant)).find((key) => key.startsWith(`ended:${refId}`)),
      Boolean,
      50_000,
    )
    return found!.split(':').at(-1)!
  }
  const owned = stack.move()
  return { store, tenant, poison, start, add, ended, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Other processes declare this one dead, as when its lease has run out. */
const loseLease = async ({ store }: World): Promise<void> => {
  await store.owner`delete from node`
  await eventually(async () => (await store.owner`select from node`).length, Boolean)
}

const costs: [words: string, cost: ((world: World) => () => Promise<void>) | undefined][] = [
  ['', undefined],
  [' and costs it its lease each time', (world) => () => loseLease(world)],
]

for (const place of places)
  test.concurrent.each(costs)(`a ${place} that keeps the process busy%s does so three times at most, and its row ends`, async (_, cost) => {
    await using world = await worldOf(place)
    const { poison, start, add, ended } = world
    const [bad] = poison.refs
    if (cost) poison.cost = cost(world)
    await start()
    const good = newId()
    await add(bad!, good)
    // An outcome that is lost with the lease is one of a row that is queued again.
    expect(['queued', 'running']).toContain(await ended(bad!))
    expect(triesOf(poison, bad!)).toBe(3)
    expect((await counters(world.store, world.tenant))[`settled:${good}`]).toBe(1)
  })

test.concurrent.each(places)('a %s that kept the process busy is not tried again before that is counted', async (place) => {
  const points = testFailpoints()
  await using world = await worldOf(place)
  const { poison, start, add, ended } = world
  const [bad] = poison.refs
  await start({ failpoints: points.at })
  // More letters than any one place tries: those that count, and those that claim and settle beside.
  let broken = 0
  const breaks = () => {
    if (triesOf(poison, bad!) < 2 || ++broken > 8) return
    throw Object.assign(new Error('the disk is full'), { code: '53100' })
  }
  for (const letter of ['claim', 'work.failed', 'fake.orphaned', 'fake.settle']) points.arm(`letter.deciding:${letter}`, breaks)
  await add(bad!)
  await ended(bad!)
  expect(broken).toBeGreaterThan(8)
  expect(triesOf(poison, bad!)).toBe(3)
})

test.concurrent('a claim beside an outcome that keeps the process busy is blamed on its own row, and the outcome stands', async () => {
  await using world = await worldOf('claim')
  const { poison, start, tenant, add, ended } = world
  const [bad, good] = [poison.refs[0]!, newId()]
  const [running, ends] = [newGate(), newGate()]
  poison.running = async () => {
    running.open()
    await ends.opened
  }
  const { runtime } = await start()
  await add(good)
  await running.opened
  // It waits for the end of the other one, under the same key.
  await runtime.ask(tenant, addWork(workOn(bad, { key: good })))
  ends.open()
  await ended(bad)
  expect(triesOf(poison, bad)).toBe(3)
  expect((await counters(world.store, tenant))[`settled:${good}`]).toBe(1)
})

test.concurrent.each(places)(
  'a %s that keeps one process after the other busy, each of which loses its lease, ends soon',
  async (place) => {
    await using world = await worldOf(place)
    const { poison, start, add, ended } = world
    const [bad] = poison.refs
    poison.cost = () => loseLease(world)
    await start({ trouble: { calmMs: 0 } })
    await using _other = await start({ trouble: { calmMs: 0 } })
    await add(bad!)
    await ended(bad!)
    // The first one can lose the workspace before it has said anything.
    expect(triesOf(poison, bad!)).toBeLessThanOrEqual(4)
  },
)

test.concurrent('a row that ran while another one kept the process busy runs once more, alone, and has not failed', async () => {
  await using world = await worldOf('run')
  const { poison, start, add, ended, store, tenant } = world
  const [bad, healthy] = [poison.refs[0]!, newId()]
  const [running, stalled] = [newGate(), newGate()]
  let [runs, isRunning, together] = [0, false, 0]
  poison.cost = async () => {
    if (triesOf(poison, bad) > 1 && isRunning) together++
    await running.opened
    stalled.open()
    await store.owner`select pg_sleep(0.2)`
  }
  poison.running = async () => {
    isRunning = true
    running.open()
    await stalled.opened
    if (++runs > 1) await store.owner`select pg_sleep(0.2)`
    isRunning = false
  }
  poison.goesOn = () => runs === 1
  await start()
  await add(bad, healthy)
  await ended(bad)
  const { failed } = await eventually(
    async () => ({ counts: await counters(store, tenant), failed: (await rowOf(world, healthy))?.failures ?? 0 }),
    ({ counts }) => counts[`settled:${healthy}`] === 1,
  )
  expect({ runs, together, failed, tries: triesOf(poison, bad) }).toEqual({ runs: 2, together: 0, failed: 0, tries: 3 })
})

/** A process that is killed in the middle of the row's claim. */
const killedIn = async ({ store }: World, options: { calmMs: number }): Promise<'claimed' | 'waits'> => {
  const { lane, claiming } = laneThatHangs()
  const actors = await actorsOn(store, { lanes: [lane], trouble: { loop: toldLoop(), ...options } })
  const waits = async () => {
    await eventually(() => actors.runtime.awake > 0 && actors.runtime.idle, Boolean)
    return 'waits' as const
  }
  const became = await Promise.race([claiming.then(() => 'claimed' as const), waits()])
  await kill(actors, store)
  return became
}

const rowOf = async ({ store }: World, ref: string) => (await store.owner<Work[]>`select * from work where ref_id = ${ref}`)[0]

test.concurrent(
  'kills of young processes in the middle of a claim do not count, but after some of them no young one claims such a row again',
  async () => {
    await using world = await worldOf('claim')
    const { poison, start, tenant, store } = world
    const healthy = newId()
    {
      await using before = await actorsOn(store, { lanes: [] })
      await before.runtime.ask(tenant, addWork(workOn(healthy)))
    }
    const young = { calmMs: 60_000 }
    const became: string[] = []
    for (let kill = 0; kill < 7; kill++) became.push(await killedIn(world, young))
    // The first is not known to have died of it.
    expect(became).toEqual(['claimed', 'claimed', 'claimed', 'claimed', 'waits', 'waits', 'waits'])
    expect(await rowOf(world, healthy)).toMatchObject({ failures: 0 })
    poison.refs = []
    await start({ trouble: { calmMs: 200 } })
    await eventually(
      () => counters(store, tenant),
      (counts) => counts[`settled:${healthy}`] === 1,
    )
  },
)
