/**
 * P1 and P8: a process is stopped in order, loses its workspace to another one, or loses the
 * database, while a job runs outside.
 */
import { beforeAll, expect, test } from 'bun:test'
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
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { startProxy } from '#test/support/database/proxy'
import { use } from '#test/support/use'

const db = use(freshDb)
const { stops, sent, overrides } = stoppableJobs()
const world = use(() => new AsyncDisposableStack())
const start = async (): Promise<TestApp> =>
  world.use(await testApp({ database: db.options, overrides: { ...overrides, sweepMs: 20 } }))
/** The process of the next test: of the two of a test, the one that goes on. */
let running: TestApp
beforeAll(async () => {
  running = await start()
})

const begin = async (app: TestApp, at: string) => {
  const story = await newAgentStory(app)
  const stopped = stops.stopNext(at)
  const id = await ask(app, story, notesAndOutside(story))
  return { story, id, goOn: await stopped }
}

/** The job has done everything once, but for what is known of the call outside. */
const expectDone = async (
  app: TestApp,
  { story, id }: { story: AgentStory; id: string },
  outside: string,
  modelCalls = 3,
) => {
  expect(await overJob(app, id)).toMatchObject({ status: 'completed', model_calls: modelCalls })
  expect((await endOf(app, id)).steps.find((step) => step.startsWith(OUTSIDE))).toBe(
    `${OUTSIDE} ${outside}`,
  )
  expect(await learned(app, story)).toHaveLength(2)
  expect(sent.filter((text) => text === story.tenantId)).toHaveLength(1)
  expect(await brokenInvariants(app.owner)).toEqual([])
}

test.each([
  [
    'A3, while the model is asked: the call is made again, and does not count as dead',
    'test.asked',
  ],
  ['A10, while the call outside is on its way: its answer is waited for', 'test.sent'],
])('P1, an orderly stop at %s', async (_, at) => {
  const stopping = running
  const { story, id, goOn } = await begin(stopping, at)
  const stopped = stopping[Symbol.asyncDispose]()
  goOn()
  await stopped
  const next = await start()
  running = next
  await expectDone(next, { story, id }, 'done')
  const [row] =
    await next.owner`select sum(attempt)::int as deaths from agent_step where job_id = ${id}`
  expect(row).toEqual({ deaths: 0 })
})

test.each([
  ['A3, while the model is asked: the other one asks again', 'test.asked', 'done', 4],
  ['A10, while the call outside is on its way: it is not made again', 'test.sent', 'unknown', 3],
])('P1, another process takes over at %s', async (_, at, outside, modelCalls) => {
  const first = running
  const { story, id, goOn } = await begin(first, at)
  const second = await start()
  running = second
  await first.owner`delete from node where incarnation = (select owner from actor
    where tenant_id = ${story.tenantId})`
  await second.send('GET', 'learnings', { key: story.key })
  await overJob(second, id)
  goOn()
  await expectDone(second, { story, id }, outside, modelCalls)
  await first[Symbol.asyncDispose]()
})

test('P8, the database is away when the model has answered: the answer is kept, and the model is not asked again', async () => {
  // On a database of its own, where nobody else can take the workspace meanwhile.
  await using own = await freshDb()
  await using proxy = await startProxy({ ...own.options })
  await using app = await testApp({ database: proxy.options, overrides })
  const { story, id, goOn } = await begin(app, 'agent.thought')
  await proxy.refuse()
  goOn()
  const status = async () =>
    (await app.send('GET', 'learnings', { key: story.key }).catch(() => undefined))?.status
  expect(await eventually(status, (code) => code === 503)).toBe(503)
  await proxy.open()
  await expectDone(app, { story, id }, 'done')
})
