/** The goal of what runs by itself, once it runs in the name of somebody other than its author. */
import { expect, test } from 'bun:test'
import type { Role } from '#kernel/roles'
import { jobOf } from '#test/support/agent/agent'
import { makeWebhookRule, post } from '#test/support/agent/webhook-rules'
import { newWorkspace } from '#test/support/contract/prepare'
import { eventually } from '#test/support/eventually'
import { scriptedModel } from '#test/support/model/scripted-model'
import { type SignedIn, signedInAs } from '#test/support/session'
import { useApp } from '#test/support/use'

const GOAL = 'learn that short posts work'
const model = scriptedModel((_, answers) =>
  answers === 0
    ? { calls: [['growth_add_learning', { kind: 'worked', note: 'Short posts' }]] }
    : { text: 'Done.' },
)
const app = useApp({ model })

const arranged = async () => {
  const { tenantId } = await newWorkspace(app)
  const person = (name: string, role: Role) => signedInAs(app, tenantId, { name, role })
  const learned = async () => [
    ...(await app.owner`select note from learning where tenant_id = ${tenantId}`),
  ]
  return { tenantId, person, learned }
}

/** Of a job that has begun: over, or waiting for a person. */
const ended = (id: string) =>
  eventually(
    () => jobOf(app, id),
    ({ status }) => status !== 'queued' && status !== 'running',
  )

test('the goal of a schedule that an owner takes over by its tools alone taints, until the owner makes the words theirs', async () => {
  const { person, learned } = await arranged()
  const [owner, editor] = [await person('Olga', 'owner'), await person('Ed', 'editor')]
  const { id } = (
    await app.send('POST', '/api/v1/actions/schedule_task', {
      key: editor.key,
      body: { goal: GOAL, cron: '0 9 * * *' },
    })
  ).body.result
  const path = `/api/v1/agent/schedules/${id}`
  const patch = async (by: SignedIn, body: object) =>
    expect((await app.send('PATCH', path, { key: by.key, body })).status).toBe(200)
  const run = async () =>
    ended((await app.send('POST', `${path}/run`, { key: owner.key, body: {} })).body.job.id)
  await patch(owner, { tools: ['growth_add_learning', 'growth_list_learnings'] })
  const first = await run()
  expect(first).toMatchObject({
    status: 'waiting_approval',
    taint: ['member Ed'],
    on_behalf: { personId: owner.personId },
  })
  expect(await learned()).toEqual([])
  // Whoever takes it over next, the words stay Ed's.
  await patch(await person('Otto', 'owner'), { tools: ['growth_add_learning'] })
  expect((await run()).taint).toEqual(['member Ed'])
  await patch(owner, { goal: GOAL, tools: ['growth_add_learning'] })
  const own = await run()
  expect([own.status, own.taint, own.conversation_id === first.conversation_id]).toEqual([
    'completed',
    [],
    false,
  ])
  expect(await learned()).toHaveLength(1)
  // The reverse: an editor runs the words of an owner with an editor's rights.
  await patch(editor, { tools: ['growth_add_learning', 'growth_list_learnings'] })
  expect(await run()).toMatchObject({ taint: [], on_behalf: { personId: editor.personId } })
})

test('the goal of a webhook rule that an owner takes over by its tools alone taints', async () => {
  const { person, tenantId } = await arranged()
  const [owner, approver] = [await person('Olga', 'owner'), await person('Ada', 'approver')]
  const by = { kind: 'session', id: approver.sessionId, personId: approver.personId } as const
  const rule = await makeWebhookRule({ app, tenantId }, { goal: GOAL, by })
  const path = `/api/v1/agent/webhook-rules/${rule.id}`
  await app.send('PATCH', path, { key: owner.key, body: { tools: ['growth_add_learning'] } })
  const posted = async () => {
    expect((await post(app.url, rule)).status).toBe(200)
    const [job] = await app.owner<
      { id: string }[]
    >`select id from agent_job where tenant_id = ${tenantId} order by id desc limit 1`
    return ended(job!.id)
  }
  expect((await posted()).taint).toEqual(['webhook Orders', 'member Ada'])
  await app.send('PATCH', path, { key: owner.key, body: { goal: GOAL } })
  expect((await posted()).taint).toEqual(['webhook Orders'])
})

test('the goal of a schedule that an owner activates once its maker has left taints', async () => {
  const { person, tenantId, learned } = await arranged()
  const [owner, editor] = [await person('Olga', 'owner'), await person('Ed', 'editor')]
  const made = await app.send('POST', '/api/v1/actions/schedule_task', {
    key: editor.key,
    body: { goal: GOAL, cron: '0 9 * * *' },
  })
  const path = `/api/v1/agent/schedules/${made.body.result.id}`
  await app.owner`delete from member where tenant_id = ${tenantId}
    and person_id = ${editor.personId}`
  await app.owner`update agent_schedule set status = 'paused', paused_by = 'caller_gone',
    next_at = null where tenant_id = ${tenantId}`
  expect(
    (await app.send('PATCH', path, { key: owner.key, body: { status: 'active' } })).status,
  ).toBe(200)
  const { job } = (await app.send('POST', `${path}/run`, { key: owner.key, body: {} })).body
  expect(await ended(job.id)).toMatchObject({
    status: 'waiting_approval',
    taint: ['member somebody who has left'],
  })
  expect(await learned()).toEqual([])
})
