/** Which failures of a row are counted, and which are not its own. */
import { expect, test } from 'bun:test'
import { systemClock } from '#kernel/clock'
import { newId } from '#kernel/ids'
import { actorsOn, counters, kill, laneThatHangs, type Store } from '#test/support/actors/actors'
import { testFailpoints } from '#test/support/actors/failpoints'
import { addWork, letterOf, newGate, workOn } from '#test/support/actors/letters'
import { becomes, counted, failing, inStore, kindsWith, rowOf, started } from './failing.ts'

test.concurrent(
  'a row that succeeds at last has no failures any more',
  inStore(async (store) => {
    const { lane, bad } = failing('claim', () => Promise.reject(new Error('no')), 2)
    lane.settle = async (_sql, gate, { work }) => ({
      reply: undefined,
      effects: {
        requeued: [{ id: work.id, runAt: new Date(gate.now.getTime() + 3_600_000) }],
        ...counted('again'),
      },
    })
    await using actors = await started(store, lane, 'ends')
    await actors.add(workOn(bad))
    await becomes(store, actors.tenant, 'again')
    expect(await rowOf(store, bad)).toMatchObject({ failures: 0, due_at: null, tried_by: null })
  }),
)

test.concurrent(
  'nothing is counted while the database takes nothing',
  inStore(async (store) => {
    const points = testFailpoints()
    const failed = failing('claim', () => Promise.reject(new Error('no')), 3)
    const full = Object.assign(new Error('the disk is full'), { code: '53100' })
    points.arm('letter.deciding:work.failed', full)
    await using actors = await started(store, failed.lane, 'ends', { failpoints: points.at })
    await actors.add(workOn(failed.bad))
    await becomes(store, actors.tenant, `settled:${failed.bad}`)
    expect(await counters(store, actors.tenant)).toEqual({ [`settled:${failed.bad}`]: 1 })
  }),
)

/** A process that had lived for a while, hung in the claim of a row, and was killed. */
const died = async (store: Store): Promise<void> => {
  const { lane, claiming } = laneThatHangs()
  const actors = await actorsOn(store, {
    lanes: [lane],
    kinds: kindsWith('ends'),
    trouble: { calmMs: 0 },
  })
  await claiming
  await kill(actors, store)
}

test.concurrent(
  'a row that one process after the other dies of ends: each marks it before it claims it',
  inStore(async (store) => {
    const [tenant, bad] = [await store.newTenant(), newId()]
    const { lane } = failing('claim', () => Promise.resolve())
    {
      await using before = await actorsOn(store, { lanes: [], kinds: kindsWith('ends') })
      await before.runtime.ask(tenant, addWork(workOn(bad)))
    }
    for (let death = 1; death <= 4; death++) {
      await died(store)
      expect((await rowOf(store, bad))!.failures).toBe(Math.max(0, death - 2))
    }
    await using _actors = await actorsOn(store, {
      lanes: [lane],
      kinds: kindsWith('ends'),
      trouble: { calmMs: 0 },
    })
    expect(await becomes(store, tenant, 'ended:queued')).toEqual({ 'ended:queued': 1 })
    expect(lane.started).toEqual([])
  }),
)

test.concurrent(
  'work whose claim was decided again because another letter failed has not failed',
  inStore(async (store) => {
    const [claiming, decides] = [newGate(), newGate()]
    const failed = failing('claim', async () => {
      claiming.open()
      await decides.opened
    })
    // Time that stands still closes no group.
    const clock = { ...systemClock, monotonic: () => 0 }
    await using actors = await actorsOn(store, { lanes: [failed.lane], clock })
    const tenant = await store.newTenant()
    await actors.runtime.ask(tenant, addWork(workOn(failed.bad)))
    await claiming.opened
    const broken = actors.runtime.ask(
      tenant,
      letterOf<void>(() => Promise.reject(new Error('no'))),
    )
    decides.open()
    await expect(broken).rejects.toThrow('no')
    expect(await becomes(store, tenant, `settled:${failed.bad}`)).toEqual({
      [`settled:${failed.bad}`]: 1,
    })
  }),
)
