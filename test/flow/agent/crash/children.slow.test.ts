/**
 * A process dies on the way of a sub-agent. Its parent made it once, what it did happened once, its
 * end reaches the parent, and whoever calls the tree off afterwards leaves nothing of it open.
 */
import { beforeAll, expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { jobOf, overJob } from '#test/support/agent/agent'
import { brokenInvariants, recordReservations } from '#test/support/agent/invariants'
import { type Plan, plannedModel, planText } from '#test/support/agent/plan'
import { type AgentStory, ask, learned, newAgentStory } from '#test/support/agent/story'
import { useSuccession } from '#test/support/agent/succession'
import type { TestApp } from '#test/support/app'

const stops = testStops()

interface Point {
  name: string
  at: [failpoint: string, nth: number]
  /** Whether the database cancels soon what has stopped there: a process of its own dies. */
  isWithin?: true
}

/** Thoughts are, in order: the parent's, two of the child, and the parent's conclusion. */
const points: Point[] = [
  {
    name: 'A14, when the child is made and its model not yet called',
    at: ['agent.claimed', 2],
  },
  { name: 'A15, when the child has answered and nothing is settled', at: ['agent.thought', 3] },
  { name: 'A15, when the parent is awake again', at: ['agent.claimed', 4] },
  { name: 'A14, before the child is committed', at: ['agent.executing', 1], isWithin: true },
  {
    name: 'A14, in the letter of a command of the child',
    at: ['agent.executing', 2],
    isWithin: true,
  },
  {
    name: 'A15, when the end of the child is about to be committed',
    at: ['letter.deciding:agent.settle', 3],
    isWithin: true,
  },
]

const note = ({ tenantId }: AgentStory): string => `a note of ${tenantId}`

const delegating = (story: AgentStory): Plan => {
  const goal = planText([[['growth_add_learning', { kind: 'worked', note: note(story) }]]])
  return [[['delegate', { goal, tools: ['growth_add_learning'] }]]]
}

const processes = useSuccession({ model: plannedModel(), overrides: { failpoints: stops.at } })
/** A tree of jobs at that point of its way. */
const begin = async ({ at }: Point) => {
  const story = await newAgentStory(processes.running)
  const stopped = stops.stopNext(...at)
  const id = await ask(processes.running, story, delegating(story))
  return { id, story, goOn: await stopped }
}
type Begun = Awaited<ReturnType<typeof begin>>

const callOff = async ({ id, story }: Begun) => {
  const path = `/api/v1/agent/jobs/${id}/cancel`
  const { status } = await processes.running.send('POST', path, { key: story.key })
  expect(status).toBe(200)
}

/** One tree of each point goes on, and one is called off. */
const found = new Map<Point, { goesOn: Begun; calledOff: Begun }>()
beforeAll(async () => {
  await recordReservations(processes.running.owner)
  for (const point of points)
    if (!point.isWithin)
      found.set(point, { goesOn: await begin(point), calledOff: await begin(point) })
  await processes.die()
  for (const { calledOff } of found.values()) await callOff(calledOff)
  // The stops count the passes of one tree.
  for (const { goesOn } of found.values()) await overJob(processes.running, goesOn.id)
})

/** A tree whose process dies there. */
const died = async (point: Point): Promise<Begun> => {
  const begun = await begin(point)
  await processes.die()
  return begun
}

const childrenOf = async ({ owner }: TestApp, id: string) => [
  ...(await owner<{ status: string }[]>`select status from agent_job where parent_id = ${id}`),
]

test.each(points)('$name', async (point) => {
  const { id, story, goOn } = found.get(point)?.goesOn ?? (await died(point))
  const next = processes.running
  expect(await overJob(next, id)).toMatchObject({ status: 'completed', error: null })
  goOn()
  expect(await childrenOf(next, id)).toEqual([{ status: 'completed' }])
  expect(await learned(next, story)).toEqual([note(story)])
  expect(await brokenInvariants(next.owner, { ledger: true })).toEqual([])
})

test.each(points)('called off after it: $name', async (point) => {
  const begun = found.get(point)?.calledOff ?? (await died(point))
  if (point.isWithin) await callOff(begun)
  const { id, story, goOn } = begun
  const next = processes.running
  goOn()
  const job = await jobOf(next, id)
  const children = await childrenOf(next, id)
  expect(children.length).toBeLessThan(2)
  expect(
    [job, ...children].map(({ status: of }) => of === 'cancelled' || of === 'completed'),
  ).not.toContain(false)
  expect((await learned(next, story)).length).toBeLessThan(2)
  expect(await brokenInvariants(next.owner, { ledger: true })).toEqual([])
})
