/**
 * A person calls a job off at each point of its way. Nothing more of it happens, and the
 * conversation takes the next message.
 */
import { expect, test } from 'bun:test'
import { jobOf, overJob } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { OUTSIDE, stoppableJobs } from '#test/support/agent/outside-tool'
import { planText } from '#test/support/agent/plan'
import { ask, endOf, learned, newAgentStory, notesAndOutside } from '#test/support/agent/story'
import { eventually } from '#test/support/app'
import { useApp } from '#test/support/use'

const { stops, sent, overrides } = stoppableJobs()
// The model of jobs that come over HTTP; it is never called, since the planned one stands in.
const app = useApp({ overrides, env: { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' } })

interface Point {
  name: string
  at: [failpoint: string, nth: number]
  learnings: number[]
  outside?: string
}

const points: Point[] = [
  { name: 'A2, when the call of the model is reserved', at: ['agent.claimed', 1], learnings: [0] },
  { name: 'A3, when the model has been asked', at: ['test.asked', 1], learnings: [0] },
  { name: 'A4, when the model has answered', at: ['agent.thought', 1], learnings: [0] },
  // The letter that is being decided is committed first, and commands with it.
  {
    name: 'A4, when the answer is about to be settled',
    at: ['letter.deciding:agent.settle', 1],
    learnings: [0, 1, 2],
  },
  { name: 'A6, between two commands', at: ['agent.executing', 2], learnings: [2] },
  { name: 'A7, in the letter of a command', at: ['agent.executing', 1], learnings: [1, 2] },
  {
    name: 'A8, when the commands are done and reads have begun',
    at: ['agent.claimed', 2],
    learnings: [2],
  },
  {
    name: 'A9, when the call outside is written down',
    at: ['agent.claimed', 4],
    learnings: [2],
    outside: 'unknown',
  },
  {
    name: 'A10, when the call outside was made',
    at: ['test.sent', 1],
    learnings: [2],
    outside: 'done',
  },
  {
    name: 'A11, when the answer from outside is read',
    at: ['agent.outside.read', 1],
    learnings: [2],
    outside: 'done',
  },
]

test.each(points)('$name', async ({ at, learnings, outside }) => {
  const story = await newAgentStory(app)
  const stopped = stops.stopNext(...at)
  const id = await ask(app, story, notesAndOutside(story))
  const goOn = await stopped
  const cancelling = app.send('POST', `/api/v1/agent/jobs/${id}/cancel`, { key: story.key })
  // A letter that is being decided must end first; all else is cancelled while it hangs.
  if (at[0].startsWith('agent.executing') || at[0].startsWith('letter.')) goOn()
  expect((await cancelling).body.job.status).toBe('cancelled')
  goOn()
  const { conversation_id } = await jobOf(app, id)
  const path = `/api/v1/agent/conversations/${conversation_id}/messages`
  const { body } = await app.send('POST', path, { key: story.key, body: { content: planText([]) } })
  expect(await overJob(app, body.job.id)).toMatchObject({ status: 'completed' })
  expect(learnings).toContain((await learned(app, story)).length)
  const stepOutside = await eventually(
    async () => (await endOf(app, id)).steps.find((step) => step.startsWith(OUTSIDE)),
    (step) => step === (outside && `${OUTSIDE} ${outside}`),
  )
  expect(stepOutside).toBe(outside && `${OUTSIDE} ${outside}`)
  expect(sent.filter((text) => text === story.tenantId)).toHaveLength(outside === 'done' ? 1 : 0)
  const { status, body: again } = await app.send('POST', `/api/v1/agent/jobs/${id}/cancel`, {
    key: story.key,
  })
  expect([status, again.job.status]).toEqual([200, 'cancelled'])
  const left = () => app.owner`select 1 from work where ref_id = ${id}`
  expect(await eventually(left, ({ length }) => length === 0)).toHaveLength(0)
  expect(await brokenInvariants(app.owner)).toEqual([])
})
