/**
 * Groups of work take turns: the first has every other one, and none waits for a group that has
 * nothing.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import { LaneOrder } from '#actors/engine/lane-order'
import { type WorkLane, workLanes } from '#contract/work'
import { newId } from '#kernel/ids'
import type { NewWork } from '#store/engine/letter'
import { actorStore, actorsOn, fakeLane } from '#test/support/actors/actors'
import { addWork, workOn } from '#test/support/actors/letters'
import { eventually } from '#test/support/eventually'
import { use } from '#test/support/use'

const store = use(actorStore)
afterEach(() => store.quiet())

/** The groups that get so many turns, if these have something to claim all the time. */
const served = (has: readonly WorkLane[], count: number): WorkLane[] => {
  const laneOrder = new LaneOrder(workLanes)
  return Array.from({ length: count }, () => {
    const lane = laneOrder.lanes.find((one) => has.includes(one))!
    laneOrder.had(lane)
    return lane
  })
}

describe('while much is due', () => {
  test('every other row is a post, and the other groups share the rest', () => {
    const lanes = served(['agent', 'delivery', 'publish'], 8)
    expect(lanes).toEqual([
      'publish',
      'agent',
      'publish',
      'delivery',
      'publish',
      'agent',
      'publish',
      'delivery',
    ])
  })

  test('posts that wait for their account leave all turns to the others', () => {
    expect(served(['agent', 'delivery', 'sync'], 6)).toEqual([
      'agent',
      'delivery',
      'sync',
      'agent',
      'delivery',
      'sync',
    ])
  })

  test('posts that are alone have all turns', () => {
    expect(served(['publish'], 3)).toEqual(['publish', 'publish', 'publish'])
  })

  test('each poll tries all groups', () => {
    const laneOrder = new LaneOrder(workLanes)
    for (const lane of [...workLanes, ...workLanes]) {
      expect([...laneOrder.lanes].sort()).toEqual([...workLanes].sort())
      laneOrder.had(lane)
    }
  })
})

const due = (
  lane: WorkLane,
  count: number,
  dueAgo: number,
  more: Partial<NewWork> = {},
): NewWork[] =>
  Array.from({ length: count }, () =>
    workOn(newId(), { lane, key: newId(), runAt: new Date(Date.now() - dueAgo), ...more }),
  )

test('while jobs and deliveries that people have asked for are due in plenty, every other claim is a due post', async () => {
  const claimed: string[] = []
  const lane = fakeLane({
    instant: true,
    async claim(_sql, _gate, work) {
      claimed.push(work.lane)
      return { job: { refId: work.ref_id }, decision: { reply: undefined } }
    },
  })
  await using actors = await actorsOn(store, { lanes: [lane] })
  const tenant = await store.newTenant()
  const posts = due('publish', 6, 1_000, { origin: 'automatic' })
  await actors.runtime.ask(
    tenant,
    addWork(...due('agent', 15, 60_000), ...due('delivery', 15, 50_000), ...posts),
  )
  await eventually(
    () => store.owner`select 1 from work where tenant_id = ${tenant}`,
    (left) => left.length === 0,
  )
  expect(claimed).toHaveLength(36)
  // Until the first poll is over, nobody knows how much is due.
  expect(claimed.lastIndexOf('publish')).toBeLessThanOrEqual(2 * posts.length)
})
