/**
 * A plan that runs out and recovers, over HTTP, with a clock stepped from hour to hour and month to
 * month.
 */
import { afterEach, expect, test } from 'bun:test'
import type { PlanState } from '#contract/limits'
import { sendTimes } from '#domain/growth/sending/times'
import { newId } from '#kernel/ids'
import { GenerationError } from '#port/model/drafter'
import { changePlan } from '#store/app/tenants'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { setUsed } from '#test/support/database/writes'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { connectMcp } from '#test/support/mcp/mcp'
import { heldDrafter } from '#test/support/model/held-drafter'
import { useEach } from '#test/support/use'

const HOUR_MS = 3_600_000
const times = { ...sendTimes, settleMs: 50, windowMs: 150 }

let app: TestApp
let story: Story
/** A drafter that writes as many posts as a batch requests, whatever the profile. */
const writingDrafter = () => {
  const held = heldDrafter()
  held.release()
  return held.drafter
}
const open = async (env: Record<string, string> = {}, drafter = writingDrafter()) => {
  app = await testApp({ database: db.options, overrides: { times, drafter }, env })
  const { send, ...rest } = await newStory(app)
  // After a step of its clock a process answers 503 until it has renewed what it owns: retry under
  // the same key, as clients do.
  const patient: Story['send'] = (method, path, more) => {
    const headers = { 'idempotency-key': newId() }
    return eventually(
      () => send(method, path, { ...more, headers }),
      ({ status }) => status !== 503 && status !== 202,
    )
  }
  story = { ...rest, send: patient }
}
afterEach(async () => {
  await app[Symbol.asyncDispose]()
})
const db = useEach(steppedDb)

const setPlan = (changes: Partial<PlanState>) =>
  changePlan(app.workplace.db, story.tenantId, (before) => ({ ...before, ...changes }))
const create = (count: number) => story.send('POST', 'batches', { body: { count } })
const outcome = async (reply: ReturnType<Story['send']>) => {
  const { status, body } = await reply
  return [status, body.error?.message]
}
const until = async (time: Date) => db.clock.pass(time.getTime() - (await db.clock.now()))
const at = async () => new Date(await db.clock.now())

test("a month's quota runs out until the next month, and an hourly cap until the next hour", async () => {
  await open()
  await setPlan({ overrides: { posts: 3, create_batch: 2 } })
  const { id } = (await create(3)).body.batch
  await eventually(
    async () => (await story.send('GET', `batches/${id}`)).body.batch.status,
    (status) => status === 'ready',
  )
  expect(await outcome(create(1))).toEqual([403, 'plan_quota_exceeded:posts'])
  expect((await story.send('GET', `batches/${id}`)).body.batch.items).toHaveLength(3)

  const now = await at()
  await until(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)))
  expect((await create(1)).status).toBe(201)
  expect((await create(1)).status).toBe(201)
  const capped = await create(1)
  expect([capped.status, capped.body.error.message]).toEqual([429, 'rate_limited:create_batch'])
  // The cap holds up generation only.
  expect((await story.send('POST', `items/${await story.approved()}/post-now`)).status).toBe(200)
  await db.clock.pass(Number(capped.headers.get('retry-after')) * 1_000)
  expect((await create(1)).status).toBe(201)
  expect(await outcome(create(1))).toEqual([403, 'plan_quota_exceeded:posts'])
})

test('what a batch of last month does not deliver does not come back to this month', async () => {
  const [held, others] = [heldDrafter(), writingDrafter()]
  const failing = async (...args: Parameters<typeof others.draft>) => {
    if (args[0].focus !== 'fails') return others.draft(...args)
    await held.drafter.draft(...args)
    throw new GenerationError('add stories')
  }
  await open({}, { ...others, draft: failing })
  await setPlan({ overrides: { posts: 3 } })
  const { id } = (await story.send('POST', 'batches', { body: { count: 3, focus: 'fails' } })).body
    .batch
  await held.begun(1)
  const now = await at()
  await until(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)))
  expect((await create(2)).status).toBe(201)
  held.release()
  const failed = await eventually(
    async () => (await story.send('GET', `batches/${id}`)).body.batch,
    ({ status }) => status === 'failed',
  )
  expect(failed.error).toBe('generation_failed: add stories')
  expect(await outcome(create(2))).toEqual([403, 'plan_quota_exceeded:posts'])
  expect((await create(1)).status).toBe(201)
})

test('suspended billing stops what costs, keeps what exists, and returns due posts to be scheduled again by a person', async () => {
  await open()
  const item = await story.approved()
  const post_at = new Date((await db.clock.now()) + HOUR_MS).toISOString()
  expect((await story.send('POST', `items/${item}/schedule`, { body: { post_at } })).status).toBe(
    200,
  )

  await setPlan({ billing: 'billing_suspended' })
  const refusal = 'plan_invalid:billing_suspended'
  expect(await outcome(create(1))).toEqual([403, refusal])
  const other = await story.approved()
  expect(await outcome(story.send('POST', `items/${other}/post-now`))).toEqual([403, refusal])
  for (const path of ['overview', 'items', 'batches', 'connection'])
    expect((await story.send('GET', path)).status).toBe(200)
  expect(await story.item(item)).toMatchObject({ status: 'approved', post_at })
  await db.clock.pass(HOUR_MS)
  // No letter runs in the workspace until one arrives or its clock is read again.
  await story.send('PUT', 'profile', { body: { goal: 'woken' } })
  const due = await story.send('POST', `items/${other}/schedule`, {
    body: { post_at: (await at()).toISOString() },
  })
  expect(due.status).toBe(200)
  for (const id of [item, other]) {
    const back = await eventually(
      () => story.item(id),
      ({ post_at: left }) => left === null,
    )
    expect(back).toMatchObject({ status: 'approved', last_error: refusal })
  }
  expect(await story.posts()).toEqual({})

  await setPlan({ billing: 'ok' })
  expect((await create(1)).status).toBe(201)
  expect((await story.send('POST', `items/${item}/post-now`)).status).toBe(200)
  expect(await story.posts()).toEqual({ [textOf(item)]: 1 })
})

const readsNow = async () => (await story.send('GET', 'connection')).body.connection

test("with the day's reads spent, a doubt about a post is still resolved and charged; the next day starts anew", async () => {
  await open({ SANDBOX_TIER: 'payg', SANDBOX_FAULTS: 'drop=1' })
  await setPlan({ overrides: { reads_payg: 20_000 } })
  expect(await readsNow()).toMatchObject({
    tier: 'payg',
    reads: { unit: 'usd_micros', limit: 20_000, reserved: 2_000, used: 0 },
  })
  const day = (await at()).toISOString().slice(0, 10)
  await setUsed(app, story.tenantId, { key: 'reads_payg', used: 20000, period: day })

  const item = await story.approved()
  await story.send('POST', `items/${item}/post-now`)
  await story.settled(item, 'posted')
  expect(await story.posts()).toEqual({ [textOf(item)]: 1 })
  const { reads } = await readsNow()
  expect(reads.used).toBe(21_000)
  await until(new Date(reads.resets_at))
  expect((await readsNow()).reads).toMatchObject({ used: 0, limit: 20_000 })
})

test('a tool says what the plan refuses, and when to try again', async () => {
  await open()
  await using mcp = await connectMcp(app.url, {
    key: (await app.newKey(['api:read', 'api:write', 'mcp:use'], story.tenantId)).api_key,
  })
  const createBatch = async () => {
    const result = await mcp.client.callTool({
      name: 'growth_create_batch',
      arguments: { count: 1 },
    })
    const [{ text }] = result.content as { text: string }[] as [{ text: string }]
    return {
      isError: result.isError,
      text,
      error: result._meta?.['tendril/error'] as Record<string, unknown> | undefined,
    }
  }
  await setPlan({ overrides: { create_batch: 0 } })
  const capped = await createBatch()
  expect([capped.isError, capped.text]).toEqual([
    true,
    `rate_limited:create_batch\nTry again in ${capped.error?.retry_after} s.`,
  ])
  await setPlan({ overrides: { posts: 0 } })
  expect(await createBatch()).toMatchObject({
    isError: true,
    text: 'plan_quota_exceeded:posts\nNext: growth_overview {}',
    error: { code: 'plan_quota_exceeded' },
  })
  await setPlan({ billing: 'plan_expired' })
  expect(await createBatch()).toMatchObject({ isError: true, text: 'plan_invalid:plan_expired' })
})
