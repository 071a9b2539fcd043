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

/** Thoughts are, in order: the parent's, two of the child, and the parent's conclusion. */
const points: [name: string, failpoint: string, nth: number][] = [
  ['A14, before the child is committed', 'agent.executing', 1],
  ['A14, when the child is made and its model not yet called', 'agent.claimed', 2],
  ['A14, in the letter of a command of the child', 'agent.executing', 2],
  ['A15, when the child has answered and nothing is settled', 'agent.thought', 3],
  ['A15, when the end of the child is about to be committed', 'letter.deciding:agent.settle', 3],
  ['A15, when the parent is awake again', 'agent.claimed', 4],
]

const note = ({ tenantId }: AgentStory): string => `a note of ${tenantId}`

const delegating = (story: AgentStory): Plan => {
  const goal = planText([[['growth_add_learning', { kind: 'worked', note: note(story) }]]])
  return [[['delegate', { goal, tools: ['growth_add_learning'] }]]]
}

const processes = useSuccession({
  env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' },
  overrides: { failpoints: stops.at, thinker: plannedModel() },
})
beforeAll(() => recordReservations(processes.running.owner))

/**
 * A tree of jobs whose process has died at the failpoint, and the process that goes on, which is
 * the one that dies next.
 */
const died = async (failpoint: string, nth: number) => {
  const first = processes.running
  const story = await newAgentStory(first)
  const stopped = stops.stopNext(failpoint, nth)
  const id = await ask(first, story, delegating(story))
  const goOn = await stopped
  return { id, story, next: await processes.die(), goOn }
}

const childrenOf = async ({ owner }: TestApp, id: string) => [
  ...(await owner<{ status: string }[]>`select status from agent_job where parent_id = ${id}`),
]

test.each(points)('%s', async (_, failpoint, nth) => {
  const { id, story, next, goOn } = await died(failpoint, nth)
  expect(await overJob(next, id)).toMatchObject({ status: 'completed', error: null })
  goOn()
  expect(await childrenOf(next, id)).toEqual([{ status: 'completed' }])
  expect(await learned(next, story)).toEqual([note(story)])
  expect(await brokenInvariants(next.owner, { ledger: true })).toEqual([])
})

test.each(points)('called off after it: %s', async (_, failpoint, nth) => {
  const { id, story, next, goOn } = await died(failpoint, nth)
  const { status } = await next.send('POST', `/api/v1/agent/jobs/${id}/cancel`, { key: story.key })
  expect(status).toBe(200)
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
