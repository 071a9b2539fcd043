/**
 * Generations whose model may not be paid for any more: they wait as rows, go on once billing is in
 * order, or fail with their quota back.
 */
import { beforeEach, expect, test } from 'bun:test'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { setPlan } from '#test/support/database/writes'
import { crash, newStory, type Story } from '#test/support/growth/story'
import { type HeldDrafter, heldDrafter } from '#test/support/model/held-drafter'
import { useEach } from '#test/support/use'

const DAY_MS = 86_400_000
const WHY = 'plan_invalid:billing_suspended'

const db = useEach(steppedDb)
const servers = useEach(() => new AsyncDisposableStack())
let app: TestApp
let story: Story
let drafter: HeldDrafter
const start = async () =>
  servers.use(
    await testApp({
      database: db.options,
      overrides: { drafter: { ...drafter.drafter, atOnce: 1 } },
    }),
  )
beforeEach(async () => {
  drafter = heldDrafter()
  app = await start()
  story = await newStory(app)
})

const billing = (state: string) => setPlan(app, story.tenantId, { billing: state })
const batch = async (id: string) =>
  (await app.send('GET', `batches/${id}`, { key: story.key })).body.batch
const becomes = (id: string, wanted: Record<string, unknown>) =>
  eventually(
    () => batch(id),
    (found) => Object.entries(wanted).every(([name, value]) => found?.[name] === value),
  )
const wait = async (ms: number) => {
  await db.clock.pass(ms)
  await eventually(
    () => app.send('PUT', 'profile', { key: story.key, body: { goal: 'woken' } }),
    ({ status }) => status === 200,
  )
}
/** A batch of two posts, of which the first is written while billing stops. */
const caught = async (): Promise<string> => {
  const { body } = await app.send('POST', 'batches', { key: story.key, body: { count: 2 } })
  await drafter.begun(1)
  await billing('billing_suspended')
  drafter.release()
  await becomes(body.batch.id, { status: 'queued', error: WHY })
  return body.batch.id
}

test('a batch whose billing stops between two posts waits with plan_invalid, over a restart, and goes on once it is in order', async () => {
  const id = await caught()
  expect((await batch(id)).delivered).toBe(1)
  await crash(app)
  app = await start()
  await billing('ok')
  await wait(DAY_MS)
  expect(await becomes(id, { status: 'ready' })).toMatchObject({
    error: null,
    delivered: 2,
    requested: 2,
  })
})

test('a batch that is held goes on as soon as billing is in order', async () => {
  const id = await caught()
  await billing('ok')
  expect(await becomes(id, { status: 'ready' })).toMatchObject({ error: null, delivered: 2 })
})

test('a batch that waits for a week ends with what it has, and gives back the rest', async () => {
  const id = await caught()
  expect(await story.used('posts')).toBe(2)
  await wait(7 * DAY_MS)
  const ended = await becomes(id, { status: 'ready' })
  expect(ended).toMatchObject({
    error: null,
    delivered: 1,
    shortfall: expect.stringContaining(WHY),
  })
  expect(await story.used('posts')).toBe(1)
})

test('one that has nothing after a week fails with plan_invalid, though its first run died', async () => {
  const { body } = await app.send('POST', 'batches', { key: story.key, body: { count: 2 } })
  await drafter.begun(1)
  await billing('billing_suspended')
  await crash(app)
  drafter = heldDrafter()
  app = await start()
  await becomes(body.batch.id, { status: 'queued', error: WHY })
  await wait(7 * DAY_MS)
  expect(await becomes(body.batch.id, { status: 'failed' })).toMatchObject({
    error: WHY,
    delivered: 0,
  })
  expect(await story.used('posts')).toBe(0)
})
