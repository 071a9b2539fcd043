/**
 * A workspace whose billing is not in order: nothing costly begins, what has begun waits, and what
 * costs nothing goes on.
 */
import { afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { jobOf, messagesIn, overJob, turn, waitingJob } from '#test/support/agent/agent'
import { brokenInvariants } from '#test/support/agent/invariants'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { insertItem, setPlan } from '#test/support/database/writes'
import { crash } from '#test/support/growth/story'
import { resultsIn, scriptedModel } from '#test/support/model/scripted-model'
import { tokenOf } from '#test/support/session'
import { use } from '#test/support/use'

const DAY_MS = 86_400_000
const WHY = 'plan_invalid:billing_suspended'

const db = use(steppedDb)
const servers = use(() => new AsyncDisposableStack())
let app: TestApp
let tenantId: string
let owner: string
let program: string
/** Calls what the message lists as JSON, each in an answer of its own, then says what it got. */
const model = scriptedModel(async ({ messages }, answers) => {
  const said = messages.findLast(({ role, text }) => role === 'user' && text.startsWith('['))
  const calls: [string, unknown][] = said ? JSON.parse(said.text) : []
  const next = calls[answers]
  await thinking?.()
  return next ? { calls: [next] } : { text: `Done: ${resultsIn({ messages } as never).length}` }
})
/** What happens while the model thinks. */
let thinking: (() => Promise<void>) | undefined

const start = async () => servers.use(await testApp({ database: db.options, model }))
beforeAll(async () => {
  app = await start()
})
beforeEach(async () => {
  thinking = undefined
  model.turns.length = 0
  tenantId = (await app.newWorkspace()).tenantId
  owner = await tokenOf(app, tenantId)
  program = (await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)).api_key
})
afterEach(async () => {
  await app.owner`alter table tenant enable trigger wake_held`
})

const suspend = (billing = 'billing_suspended') => setPlan(app, tenantId, { billing })
const restore = () => setPlan(app, tenantId, { billing: 'ok' })
const key = async () =>
  ({
    kind: 'key',
    id: (await app.newKey(['api:read', 'api:write', 'workspace:use'], tenantId)).id,
    personId: null,
  }) as const
const ask = async (...calls: [string, unknown][]) =>
  turn(app, { content: JSON.stringify(calls), by: await key(), tenantId })

const held = (id: string) =>
  eventually(
    () => jobOf(app, id),
    ({ error, status }) => error === WHY && status === 'queued',
  )
/** Until the next try of what is held. No letter runs in the workspace until one arrives. */
const wait = async (ms = 20_000) => {
  await db.clock.pass(ms)
  await eventually(
    () => app.send('PUT', 'profile', { key: program, body: { goal: 'woken' } }),
    ({ status }) => status === 200,
  )
}
const look = ['get_current_time', {}] as [string, unknown]

/** A job that the suspension meets in its first thought. */
const caught = async (...calls: [string, unknown][]): Promise<string> => {
  thinking = () => suspend()
  const id = await ask(...calls)
  await held(id)
  thinking = undefined
  return id
}

test('a job whose billing stops in its middle waits with plan_invalid, says so, and goes on once it is in order', async () => {
  const id = await caught(look, look)
  expect(model.turns).toHaveLength(1)
  const shown = await app.send('GET', `/api/v1/agent/jobs/${id}`, { key: owner })
  expect(shown.body.job).toMatchObject({
    status: 'queued',
    error: WHY,
    modelCalls: 1,
    endedAt: null,
  })
  const told = await app.send('GET', `/api/v1/agent/jobs/${id}/events`, { key: owner })
  expect(told.body.events.at(-1)).toMatchObject({
    type: 'job.status',
    data: { status: 'queued', error: WHY },
  })
  // It sees by itself that nothing has changed, says nothing again, and calls nobody.
  const [before] = await app.owner`select run_at from work where ref_id = ${id}`
  await wait()
  await eventually(
    async () =>
      (await app.owner`select run_at from work where ref_id = ${id}`)[0]!.run_at.getTime(),
    (at) => at > before!.run_at.getTime(),
  )
  expect(model.turns).toHaveLength(1)
  const { body } = await app.send(
    'GET',
    `/api/v1/agent/jobs/${id}/events?after=${told.body.nextSeq}`,
    { key: owner },
  )
  expect(body.events).toEqual([])
  expect(await brokenInvariants(app.owner)).toEqual([])
  await restore()
  await wait(DAY_MS)
  expect(await overJob(app, id)).toMatchObject({
    status: 'completed',
    error: null,
    model_calls: 3,
    held_since: null,
  })
  expect(await brokenInvariants(app.owner)).toEqual([])
})

test('what is held goes on as soon as billing is in order, in a process that has the workspace awake and in one that starts', async () => {
  const [first, second] = [await caught(look), await ask(look)]
  await held(second)
  await restore()
  for (const id of [first, second])
    expect(await overJob(app, id)).toMatchObject({ status: 'completed', held_since: null })
  expect((await app.owner`select nudged from actor where tenant_id = ${tenantId}`)[0]!.nudged).toBe(
    false,
  )
  const third = await caught(look)
  await crash(app)
  await restore()
  app = await start()
  expect((await overJob(app, third)).status).toBe('completed')
})

test('a job that is held outlives its server, and one that goes on takes the others along', async () => {
  // Nobody says that billing is in order again: they find out.
  await app.owner`alter table tenant disable trigger wake_held`
  const [first, second] = [await caught(look), await ask(look)]
  await held(second)
  await crash(app)
  app = await start()
  expect((await held(first)).model_calls).toBe(1)
  await restore()
  // Only the first is due.
  await app.owner`update work set run_at = run_at + interval '1 day' where ref_id = ${second}`
  await wait()
  for (const id of [first, second]) expect((await overJob(app, id)).status).toBe('completed')
})

test('what a person approves while a job is held is carried out, and the job is held again at its next thought', async () => {
  const item = await insertItem(app, tenantId)
  const id = await ask(['growth_approve_item', { id: item }])
  await waitingJob(app, id)
  const [approval] = await app.owner`select id from agent_approval where job_id = ${id}`
  const [decided] = await Promise.all([
    app.send('POST', `/api/v1/agent/approvals/${approval!.id}/approve`, { key: owner, body: {} }),
    suspend(),
  ])
  expect(decided.status).toBe(200)
  await held(id)
  expect((await app.owner`select status from item where id = ${item}`)[0]!.status).toBe('approved')
  await restore()
  await wait()
  expect(await overJob(app, id)).toMatchObject({ status: 'completed', model_calls: 2 })
})

test('a job that is held for a week fails with plan_invalid', async () => {
  const id = await caught(look)
  const begun = await db.clock.now()
  await wait(7 * DAY_MS - 60_000)
  await eventually(
    async () =>
      (await app.owner`select run_at from work where ref_id = ${id}`)[0]?.run_at.getTime(),
    (at) => at > begun + 6 * DAY_MS,
  )
  expect((await jobOf(app, id)).ended_at).toBeNull()
  await wait(16 * 60_000)
  const job = await overJob(app, id)
  expect(job).toMatchObject({ status: 'failed', error: WHY, model_calls: 1 })
  expect((await messagesIn(app, job)).at(-1)!.content).toContain('for a week')
  expect(await brokenInvariants(app.owner)).toEqual([])
})

test('a parent is patient with a child that is held, and hears its answer', async () => {
  let thoughts = 0
  thinking = async () => {
    thoughts++
    if (thoughts === 2) await suspend()
  }
  const id = await ask([
    'delegate',
    { goal: '[["get_current_time",{}]]', tools: ['get_current_time'] },
  ])
  const child = async () =>
    (await app.owner<{ id: string }[]>`select id from agent_job where parent_id = ${id}`)[0]
  const { id: below } = (await eventually(child, Boolean))!
  await held(below)
  const begun = await db.clock.now()
  await wait(2 * DAY_MS)
  await eventually(
    async () =>
      (await app.owner`select run_at from work where ref_id = ${id}`)[0]!.run_at.getTime(),
    (at) => at > begun + 2 * DAY_MS,
  )
  expect((await jobOf(app, id)).status).toBe('waiting_child')
  await restore()
  await wait(3_600_000)
  expect((await overJob(app, below)).status).toBe('completed')
  expect(await overJob(app, id)).toMatchObject({ status: 'completed', error: null })
})
