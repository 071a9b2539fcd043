/**
 * A workspace in which the agent has made something of every kind is deleted: nothing of it begins
 * from the request on, and it is erased whole, though a model is still being asked.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { eraseSome } from '#store/app/erasure'
import { testStops } from '#test/support/actors/stops'
import { overJob, turn } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { OUTSIDE, withOutside } from '#test/support/agent/outside-tool'
import { type Plan, plannedAnswer, planText } from '#test/support/agent/plan'
import { comeDue, runsOf } from '#test/support/agent/schedules'
import { type AgentStory, ask, endOf, newAgentStory } from '#test/support/agent/story'
import { type MadeRule, post } from '#test/support/agent/webhook-rules'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb, type TestDatabase } from '#test/support/database/db'
import { rowsOfTenant } from '#test/support/database/tenant-rows'
import { wakeActor } from '#test/support/database/writes'
import { scriptedModel } from '#test/support/model/scripted-model'
import { tokenOf } from '#test/support/session'

const stops = testStops()
const sent: string[] = []
const TASK = 'TODO: call the docks'
/** Follows the plan of its message; a task has none. */
const model = scriptedModel(async ({ messages }, answers) => {
  const said = messages.findLast(({ role }) => role === 'user')
  const text = said?.role === 'user' ? said.text : ''
  if (text.includes(TASK)) return { text: '{"items":[]}' }
  await stops.at('test.asked')
  return plannedAnswer(text, answers)
})

const world = new AsyncDisposableStack()
afterAll(() => world.disposeAsync())
let db: TestDatabase
let app: TestApp
beforeAll(async () => {
  db = world.use(await freshDb())
  app = await testApp({
    database: db.options,
    model,
    overrides: {
      failpoints: stops.at,
      sweepMs: 20,
      erasure: { everyMs: 3_600_000, rows: 50 },
      tools: withOutside(async (text) => void sent.push(text)),
    },
  })
  world.defer(() => app[Symbol.asyncDispose]())
})

/** The child sends outside. */
const DELEGATING: Plan = [
  [['delegate', { goal: planText([[[OUTSIDE, { text: 'of a child' }]]]), tools: [OUTSIDE] }]],
]

const sending = (key: string) => async (path: string, body: object) =>
  app.send('POST', `/api/v1/${path}`, { key, body })

/** Something of every kind, and what each has begun. */
const livedIn = async () => {
  const story: AgentStory = await newAgentStory(app)
  const send = sending(story.key)
  const made = async (path: string, body: object) => {
    const { status, body: answer, text } = await send(path, body)
    expect([path, status < 300, text.slice(0, 300)]).toEqual([path, true, expect.any(String)])
    return answer
  }
  await made('actions/remember', { text: 'Dock posts go out on Thursdays', scope: 'workspace' })
  const { playbook } = await made('agent/playbooks', {
    slug: 'voice',
    name: 'Voice',
    content: 'Plain words.',
  })
  await made(`agent/playbooks/${playbook.id}/versions`, {
    content: 'Plain, short words.',
    rationale: 'shorter',
  })
  const file = {
    fileName: 'docks.md',
    kind: 'report',
    mimeType: 'text/markdown',
    content: '# Docks',
  }
  const { result: kept } = await made('actions/create_artifact', file)
  await made(`artifacts/${kept.artifact.id}/shares`, {})
  const { task } = await made('agent/tasks', {
    taskType: 'extract_action_items',
    input: { text: TASK },
  })
  expect(await overJob(app, task.id)).toMatchObject({ status: 'completed' })
  const rule: MadeRule = (
    await made('actions/create_webhook_rule', {
      name: 'Orders',
      goal: planText([[[OUTSIDE, { text: 'of a post' }]]]),
    })
  ).result
  expect((await post(app.url, rule)).status).toBe(200)
  const asked = await eventually(
    () =>
      app.owner<
        { id: string }[]
      >`select id from agent_approval where tenant_id = ${story.tenantId} and status = 'pending'`,
    ({ length }) => length === 1,
  )
  const { result: schedule } = await made('actions/schedule_task', {
    goal: planText(DELEGATING),
    cron: '0 9 * * 1',
  })
  return { story, send, rule, schedule: schedule.id as string, approval: asked[0]!.id }
}

/** How many jobs there are, and steps that jobs have begun which nobody watches. */
const begunIn = async (tenantId: string) => {
  const [row] = await app.owner`select (select count(*)::int from agent_job
      where tenant_id = ${tenantId}) as jobs,
    (select count(*)::int from agent_step s join agent_job j on j.tenant_id = s.tenant_id
      and j.id = s.job_id
      where j.tenant_id = ${tenantId} and j.origin = 'automatic'
        and s.started_at is not null) as unattended_steps`
  return { ...row }
}

test('nothing begins from the request on; what a person asked for ends without another change; then all of it is erased', async () => {
  const { story, send, rule, schedule, approval } = await livedIn()
  const { tenantId } = story
  // The second thought of each tree is its child's.
  let stopped = stops.stopNext('test.asked', 2)
  await comeDue({ app, tenantId }, schedule)
  const unattended = await stopped
  stopped = stops.stopNext('test.asked', 2)
  const byHand = await ask(app, story, DELEGATING)
  const attended = await stopped
  stopped = stops.stopNext('test.asked')
  const late = await turn(app, { content: planText([]), by: story.by, tenantId })
  const lateAnswer = await stopped

  const owner = await tokenOf(app, tenantId)
  const requested = await app.send('POST', '/api/v1/app/workspace/deletion', {
    key: owner,
    body: { name: 'Test' },
  })
  expect(requested.body.deletion.automation).toEqual({ paused: true, in_flight: [] })
  const begun = await begunIn(tenantId)
  unattended()
  attended()
  await comeDue({ app, tenantId }, schedule)
  await wakeActor(app, tenantId)
  expect((await post(app.url, rule)).status).toBe(401)
  const refused = [
    send('agent/messages', { content: 'Are you there?' }),
    send('agent/tasks', { taskType: 'extract_action_items', input: { text: TASK } }),
    send('actions/remember', { text: 'One more', scope: 'workspace' }),
    app.send('POST', `/api/v1/agent/schedules/${schedule}/run`, { key: owner }),
    app.send('POST', `/api/v1/agent/approvals/${approval}/approve`, { key: owner, body: {} }),
  ]
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual(Array(5).fill(409))
  expect(await overJob(app, byHand)).toMatchObject({ status: 'completed' })
  const [child] = await app.owner<
    { id: string }[]
  >`select id from agent_job where parent_id = ${byHand}`
  expect((await endOf(app, child!.id)).steps).toEqual([
    'model done',
    `${OUTSIDE} failed`,
    'model done',
  ])
  await eventually(
    () =>
      app.owner`select 1 from work where tenant_id = ${tenantId} and kind = 'agent' and
        origin = 'automatic' and state = 'running'`,
    ({ length }) => length === 0,
  )
  expect(await begunIn(tenantId)).toEqual(begun)
  expect(await runsOf({ app }, schedule)).toHaveLength(1)
  expect(sent).toEqual([])
  expect(await brokenInvariants(app.owner)).toEqual([])

  const rows = await rowsOfTenant(app.owner, tenantId)
  const kinds = ['memory', 'schedule', 'approval', 'job', 'step', 'message'].map(
    (kind) => `agent_${kind}.tenant_id`,
  )
  const others = [
    'playbook',
    'playbook_version',
    'webhook_rule',
    'inbound_event',
    'inbound_route',
  ].map((table) => `${table}.tenant_id`)
  for (const place of [...kinds, ...others])
    expect([place, rows[place]! > 0]).toEqual([place, true])
  await app.owner`update tenant set deletes_at = now() where id = ${tenantId}`
  while (await eraseSome(app.workplace.db, tenantId, 50));
  expect((await post(app.url, rule)).status).toBe(401)
  // The model answers a job that is no more, and the server stops once it has settled that.
  expect(await app.owner`select 1 from agent_job where id = ${late}`).toHaveLength(0)
  lateAnswer()
  await app[Symbol.asyncDispose]()
  const sql = postgres({ ...db.options, max: 1, onnotice: () => {} })
  world.defer(() => sql.end())
  expect(
    Object.entries(await rowsOfTenant(sql, tenantId)).filter(([, count]) => count > 0),
  ).toEqual([])
  expect(sent).toEqual([])
})
