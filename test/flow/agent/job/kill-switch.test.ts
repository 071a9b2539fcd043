/**
 * The kill switch and jobs: what pause-all says of calls outside that they have begun, what becomes
 * of them, and that jobs go on once they may.
 */
import { afterEach, expect, test } from 'bun:test'
import { overJob } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { OUTSIDE, stoppableJobs } from '#test/support/agent/outside-tool'
import {
  type AgentStory,
  ask,
  endOf,
  learned,
  newAgentStory,
  notesAndOutside,
} from '#test/support/agent/story'
import { eventually } from '#test/support/app'
import { useApp } from '#test/support/use'

const { stops, sent, overrides } = stoppableJobs()
const app = useApp({ overrides })

const switched = async ({ key }: AgentStory, action: 'pause-all' | 'resume-all') =>
  (await app.send('POST', `automation/${action}`, { key })).body.automation.in_flight

/** A job that calls outside, stopped there. */
const calling = async (
  origin: 'manual' | 'automatic',
  ...at: [failpoint: string, nth?: number]
) => {
  const story = await newAgentStory(app)
  const stopped = stops.stopNext(...at)
  const id = await ask(app, story, [[[OUTSIDE, { text: story.tenantId }]]], origin)
  return { story, id, goOn: await stopped }
}

const timesSent = ({ tenantId }: AgentStory): number =>
  sent.filter((text) => text === tenantId).length

afterEach(async () => expect(await brokenInvariants(app.owner)).toEqual([]))

test.each(['manual', 'automatic'] as const)(
  'a call of %s origin that is on the wire is listed until its answer has come',
  async (origin) => {
    const { story, id, goOn } = await calling(origin, 'test.sent')
    const listed = [{ job_id: id, tool: OUTSIDE, origin, since: expect.any(String) }]
    expect(await switched(story, 'pause-all')).toEqual(listed)
    expect(await switched(story, 'pause-all')).toEqual(listed)
    expect(await switched(story, 'resume-all')).toEqual(listed)
    goOn()
    expect(await overJob(app, id)).toMatchObject({ status: 'completed' })
    expect(await switched(story, 'pause-all')).toEqual([])
    expect(timesSent(story)).toBe(1)
  },
)

test('an unattended call that is written down and not made is recalled, not listed, and made once after the pause', async () => {
  const { story, id, goOn } = await calling('automatic', 'agent.claimed', 2)
  expect(await switched(story, 'pause-all')).toEqual([])
  goOn()
  expect(timesSent(story)).toBe(0)
  await switched(story, 'resume-all')
  expect(await overJob(app, id)).toMatchObject({ status: 'completed' })
  expect((await endOf(app, id)).steps).toEqual(['model done', `${OUTSIDE} done`, 'model done'])
  expect(timesSent(story)).toBe(1)
})

test('a call that a person asked for is listed before it is made: it is not recalled', async () => {
  const { story, id, goOn } = await calling('manual', 'agent.claimed', 2)
  expect(await switched(story, 'pause-all')).toMatchObject([{ job_id: id, tool: OUTSIDE }])
  goOn()
  expect(await overJob(app, id)).toMatchObject({ status: 'completed' })
  expect(timesSent(story)).toBe(1)
})

test('cancelling a job lists the call that is on the wire, whoever cancels how often, and one that is not yet is not made', async () => {
  const { story, id, goOn } = await calling('manual', 'test.sent')
  const cancel = () => app.send('POST', `/api/v1/agent/jobs/${id}/cancel`, { key: story.key })
  const listed = [{ job_id: id, tool: OUTSIDE, origin: 'manual', since: expect.any(String) }]
  const both = await Promise.all([cancel(), cancel()])
  expect(both.map(({ status, body }) => [status, body.job.status, body.in_flight])).toEqual(
    Array(2).fill([200, 'cancelled', listed]),
  )
  goOn()
  await eventually(
    async () => (await cancel()).body.in_flight,
    ({ length }) => length === 0,
  )
  expect((await endOf(app, id)).steps).toEqual(['model done', `${OUTSIDE} done`])
  const other = await calling('manual', 'agent.claimed', 2)
  const { body } = await app.send('POST', `/api/v1/agent/jobs/${other.id}/cancel`, {
    key: other.story.key,
  })
  expect([body.job.status, body.in_flight]).toEqual(['cancelled', []])
  other.goOn()
  expect([timesSent(story), timesSent(other.story)]).toEqual([1, 0])
})

test('a call whose job was cancelled is listed until its answer has come', async () => {
  const { story, id, goOn } = await calling('automatic', 'test.sent')
  await app.send('POST', `/api/v1/agent/jobs/${id}/cancel`, { key: story.key })
  expect(await switched(story, 'pause-all')).toMatchObject([
    { job_id: id, tool: OUTSIDE, origin: 'automatic' },
  ])
  goOn()
  await eventually(
    () => switched(story, 'pause-all'),
    ({ length }) => length === 0,
  )
  expect((await endOf(app, id)).steps).toEqual(['model done', `${OUTSIDE} done`])
})

test('P2, everything is paused while the model is asked: what a person asked for goes on', async () => {
  const story = await newAgentStory(app)
  const stopped = stops.stopNext('test.asked')
  const id = await ask(app, story, notesAndOutside(story))
  const goOn = await stopped
  expect(
    (await app.send('POST', 'automation/pause-all', { key: story.key })).body.automation.paused,
  ).toBe(true)
  goOn()
  expect(await overJob(app, id)).toMatchObject({ status: 'completed', model_calls: 3 })
  expect(await learned(app, story)).toHaveLength(2)
})

test('P2, everything is paused again and again while the model is asked unattended: the job goes on once it may, and nothing counts as dead', async () => {
  const story = await newAgentStory(app)
  const workOf = async (id: string) =>
    (await app.owner<{ state: string }[]>`select state from work where ref_id = ${id}`)[0]
  let stopped = stops.stopNext('test.asked')
  const id = await ask(
    app,
    story,
    [[['growth_add_learning', { kind: 'worked', note: 'unattended' }]]],
    'automatic',
  )
  for (let pauses = 1; pauses <= 3; pauses++) {
    const goOn = await stopped
    expect((await app.send('POST', 'automation/pause-all', { key: story.key })).status).toBe(200)
    goOn()
    await eventually(
      () => workOf(id),
      (row) => row?.state === 'queued',
    )
    stopped = stops.stopNext('test.asked')
    await app.send('POST', 'automation/resume-all', { key: story.key })
  }
  ;(await stopped)()
  expect(await overJob(app, id)).toMatchObject({ status: 'completed', model_calls: 2 })
  expect(await app.owner`select state, attempt from agent_step where job_id = ${id}`).toEqual(
    Array(3).fill({ state: 'done', attempt: 0 }) as never,
  )
  expect(await learned(app, story)).toEqual(['unattended'])
})
