/**
 * While billing is not in order, no surface begins what calls a model, and all that costs nothing
 * goes on.
 */
import { afterEach, expect, test } from 'bun:test'
import { comeDue, makeSchedule, runsOf, scheduleOf } from '#test/support/agent/schedules'
import { newSurface } from '#test/support/agent/surface'
import { makeWebhookRule, post } from '#test/support/agent/webhook-rules'
import { eventually } from '#test/support/app'
import { channelJobs, devChannel, linked, postDev } from '#test/support/channels/dev-posts'
import { setPlan } from '#test/support/database/writes'
import { scriptedModel } from '#test/support/model/scripted-model'
import { useApp } from '#test/support/use'

const WHY = 'plan_invalid:billing_suspended'
const model = scriptedModel(() => ({ text: 'Seen.' }))
const app = useApp({ model })

/** A workspace that is suspended. */
const suspended = async () => {
  const surface = await newSurface(app)
  await setPlan(app, surface.tenantId, { billing: 'billing_suspended' })
  const send = (method: string, path: string, body?: unknown) =>
    app.send(method, path, { key: surface.key, ...(body === undefined ? {} : { body }) })
  return { ...surface, call: send }
}
const reader = async (tenantId: string) =>
  ({
    kind: 'key',
    id: (await app.newKey(['api:read', 'workspace:use'], tenantId)).id,
    personId: null,
  }) as const
afterEach(() => {
  expect(model.turns).toEqual([])
})

test('messages, tasks, sub-agents and runs of schedules are refused with plan_invalid, and begin nothing', async () => {
  const { call, tenantId } = await suspended()
  const { id } = await makeSchedule({ app, tenantId })
  const { body } = await call('POST', '/api/v1/agent/conversations', {})
  const refused: [path: string, body: unknown][] = [
    ['/api/v1/agent/messages', { content: 'What is late?' }],
    [`/api/v1/agent/conversations/${body.conversation.id}/messages`, { content: 'What is late?' }],
    [
      '/api/v1/agent/tasks',
      { taskType: 'extract_action_items', input: { text: 'Anna will call.' } },
    ],
    ['/api/v1/actions/delegate', { goal: 'Look', tools: ['get_current_time'] }],
    [`/api/v1/agent/schedules/${id}/run`, {}],
    ['/api/v1/growth/batches', { count: 1 }],
  ]
  for (const [path, input] of refused) {
    const { status, body: answer } = await call('POST', path, input)
    expect([path, status, answer.error?.message]).toEqual([path, 403, WHY])
  }
  expect(await app.owner`select 1 from agent_job where tenant_id = ${tenantId}`).toHaveLength(0)
})

test('own texts, edits, approvals, reads, direct calls and commands of the desk go on', async () => {
  const { call, tenantId, as } = await suspended()
  const made = await call('POST', '/api/v1/growth/items', {
    body: 'A text of our own, about lorries.',
  })
  expect(made.status).toBe(201)
  const { id } = made.body.item
  const copied = await call('POST', `/api/v1/growth/items/${id}/duplicate`, {})
  const edited = await call('PATCH', `/api/v1/growth/items/${id}`, {
    body: 'Another text of our own.',
  })
  const approved = await call('POST', `/api/v1/growth/items/${id}/approve`, {})
  expect([copied.status, edited.status, approved.status]).toEqual([201, 200, 200])
  expect((await call('POST', '/api/v1/actions/get_current_time', {})).status).toBe(200)
  const owner = await as('owner')
  const sent = await app.send('POST', '/api/v1/agent/messages', {
    key: owner,
    body: { content: '/items list' },
  })
  expect(sent.status).toBe(201)
  const jobs = () =>
    app.owner`select status, error from agent_job where tenant_id = ${tenantId} and kind = 'turn'`
  const [job] = await eventually(jobs, ([one]) => one?.status === 'completed')
  expect({ ...job }).toEqual({ status: 'completed', error: null })
})

test('a post to a webhook rule is refused, and begins a job once billing is in order', async () => {
  const { tenantId } = await suspended()
  const rule = await makeWebhookRule({ app, tenantId }, { by: await reader(tenantId) })
  const refused = await post(app.url, rule, { id: 'evt_1' })
  expect([refused.status, refused.body.error?.message]).toEqual([403, WHY])
  expect(await runsOf({ app }, rule.id)).toHaveLength(0)
  await setPlan(app, tenantId, { billing: 'ok' })
  expect((await post(app.url, rule, { id: 'evt_1' })).status).toBe(200)
  await eventually(
    () => runsOf({ app }, rule.id),
    ([one]) => one?.status === 'completed',
  )
  expect(model.turns.splice(0)).toHaveLength(1)
})

test('a schedule whose time comes has no run, and says why once', async () => {
  const { tenantId } = await suspended()
  const place = { app, tenantId }
  const { id } = await makeSchedule(place, { by: await reader(tenantId) })
  for (const missed of [1, 2]) {
    await comeDue(place, id)
    await eventually(
      () => scheduleOf(place, id),
      (found) => found?.missed === missed,
    )
  }
  const { conversation_id } = (await scheduleOf(place, id))!
  const said = await app.owner`select role, content from agent_message
      where conversation_id = ${conversation_id}`
  expect(said.map(({ role }) => role)).toEqual(['notice'])
  expect(said[0]!.content).toContain(WHY)
  expect(await runsOf({ app }, id)).toHaveLength(0)
})

test('in a channel a member is told why, a stranger gets one line that says nothing of the workspace, and commands go on', async () => {
  const { tenantId } = await suspended()
  const channel = await devChannel(app, { config: { reply: 'auto' } }, tenantId)
  await linked(app, channel, 'ada')
  const lines = async (sender: string) =>
    (
      await app.owner`select text from channel_reply where connection_id = ${channel.id}
        and recipient = ${sender}`
    ).map(({ text }) => text)
  for (const sender of ['ada', 'ada', 'mallory', 'mallory'])
    expect((await postDev(app.url, channel, { sender })).status).toBe(200)
  expect(await lines('ada')).toEqual([expect.stringContaining(WHY)])
  expect(await lines('mallory')).toEqual(['I cannot answer at the moment. Please try again later.'])
  expect(await channelJobs(app, channel)).toHaveLength(0)
  await postDev(app.url, channel, { sender: 'ada', text: '/items list' })
  const [job] = await eventually(
    () => channelJobs(app, channel),
    ([one]) => one?.status === 'completed',
  )
  expect(job!.goal).toBe('/items list')
  const declined = await app.owner`select distinct detail->>'why' as why from audit
      where detail->>'connection_id' = ${channel.id}
    and detail->>'outcome' = 'declined'`
  expect(declined.map(({ why }) => why)).toEqual([WHY])
})
