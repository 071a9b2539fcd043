/**
 * Rows that keep the process busy do so three times at most, wherever they do and whatever that
 * costs: connections, the lease, or the letter that counts it. The loop's watch is told of stalls
 * here; test/faults/starve/starve.harness.ts has real ones.
 */
import { expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import type { Work } from '#store/engine/work'
import { actorsOn, counters, kill, laneThatHangs } from '#test/support/actors/actors'
import { testFailpoints } from '#test/support/actors/failpoints'
import { addWork, newGate, workOn } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'
import { places, toldLoop, triesOf, type World, worldOf } from './stalling.ts'

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
  test.concurrent.each(costs)(
    `a ${place} that keeps the process busy%s does so three times at most, and its row ends`,
    async (_, cost) => {
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
    },
  )

test.concurrent.each(places)(
  'a %s that kept the process busy is not tried again before that is counted',
  async (place) => {
    const points = testFailpoints()
    await using world = await worldOf(place)
    const { poison, start, add, ended } = world
    const [bad] = poison.refs
    await start({ failpoints: points.at })
    // More letters than any one place tries: those that count, and those that claim and settle
    // beside.
    let broken = 0
    const breaks = () => {
      if (triesOf(poison, bad!) < 2 || ++broken > 8) return
      throw Object.assign(new Error('the disk is full'), { code: '53100' })
    }
    for (const letter of ['claim', 'work.failed', 'fake.orphaned', 'fake.settle'])
      points.arm(`letter.deciding:${letter}`, breaks)
    await add(bad!)
    await ended(bad!)
    expect(broken).toBeGreaterThan(8)
    expect(triesOf(poison, bad!)).toBe(3)
  },
)

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

// The other process finds the same of a row that was being settled as of one that ran.
test.concurrent.each(['claim', 'run'] as const)(
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
    async () => ({
      counts: await counters(store, tenant),
      failed: (await rowOf(world, healthy))?.failures ?? 0,
    }),
    ({ counts }) => counts[`settled:${healthy}`] === 1,
  )
  expect({ runs, together, failed, tries: triesOf(poison, bad) }).toEqual({
    runs: 2,
    together: 0,
    failed: 0,
    tries: 3,
  })
})

/** A process that is killed in the middle of the row's claim. */
const killedIn = async (
  { store }: World,
  options: { calmMs: number },
): Promise<'claimed' | 'waits'> => {
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

const rowOf = async ({ store }: World, ref: string) =>
  (await store.owner<Work[]>`select * from work where ref_id = ${ref}`)[0]

test.concurrent('kills of young processes in the middle of a claim do not count, but after some of them no young one claims such a row again', async () => {
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
})
