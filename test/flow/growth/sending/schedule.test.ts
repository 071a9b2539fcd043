/** Scheduled posts: when they go out, when they do not, and from which account. */
import { expect, test } from 'bun:test'
import { connectAccount } from '#ops/operator/admin/workspaces'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { makeItemDue, setItem } from '#test/support/database/writes'
import { inMs, newStory, type Story, textOf } from '#test/support/growth/story'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const app = useApp(() => ({ database: db.options }))

/** Moves a scheduled item into the past. */
const makeOverdue = async ({ owner }: TestApp, id: string, minutes: number): Promise<void> => {
  const at = new Date(Date.now() - minutes * 60_000)
  await makeItemDue({ owner }, id, at)
  await owner`update actor set wake_at = ${at} where tenant_id = (select tenant_id from item
    where id = ${id})`
}

const HOUR_MS = 3_600_000

/**
 * An hour passes for an item: whatever stands in its rows falls due, and the process looks for it.
 */
const passAnHour = async (story: Story, id: string): Promise<void> => {
  await app.owner`update item set post_at = post_at - interval '1 hour' where id = ${id}`
  await app.owner`update work set run_at = run_at - interval '1 hour' where ref_id = ${id}`
  expect((await story.send('POST', 'automation/resume-all')).status).toBe(200)
}

const secondAccount = async (story: Story): Promise<string> => {
  const account = await app.workplace.sandbox.connect(story.tenantId, `second-${story.tenantId}`)
  await connectAccount(app.workplace.world, story.tenantId, { network: 'sandbox', ...account })
  return account.externalId
}

const accountOf = async (text: string): Promise<string[]> => {
  const rows = await app.owner<
    { account_id: string }[]
  >`select account_id from sandbox.posts where text = ${text}`
  return rows.map((row) => row.account_id)
}

test('a scheduled item goes out once, not before it is due', async () => {
  const story = await newStory(app)
  const id = await story.scheduled(300)
  const before = await story.item(id)
  const item = await story.settled(id, 'posted')
  expect(item).toMatchObject({ status: 'posted', post_at: null, last_error: null })
  expect(Date.parse(item.posted_at!)).toBeGreaterThanOrEqual(Date.parse(before.post_at!))
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
  expect(await story.events()).toEqual(['growth.item.posted'])
})

test('an item taken off the schedule in time does not go out', async () => {
  const story = await newStory(app)
  const id = await story.scheduled(HOUR_MS)
  expect((await story.send('POST', `items/${id}/unschedule`)).body.item).toMatchObject({
    status: 'approved',
    post_at: null,
  })
  await passAnHour(story, id)
  const later = await story.scheduled(0)
  await story.settled(later, 'posted')
  expect(await story.item(id)).toMatchObject({ status: 'approved', post_at: null })
  expect(await story.posts()).toEqual({ [textOf(later)]: 1 })
})

test.each([
  ['a later', HOUR_MS, HOUR_MS + 300],
  ['an earlier', 2 * HOUR_MS, HOUR_MS + 300],
])('an item moved to %s time goes out once, at the new time', async (_, first, second) => {
  const story = await newStory(app)
  const id = await story.scheduled(first)
  const post_at = inMs(second)
  expect((await story.send('POST', `items/${id}/schedule`, { body: { post_at } })).status).toBe(200)
  await passAnHour(story, id)
  const item = await story.settled(id, 'posted')
  expect(Date.parse(item.posted_at!)).toBeGreaterThanOrEqual(Date.parse(post_at) - HOUR_MS)
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a scheduled item that is posted by hand does not go out a second time', async () => {
  const story = await newStory(app)
  const id = await story.scheduled(HOUR_MS)
  expect((await story.send('POST', `items/${id}/post-now`)).status).toBe(200)
  await passAnHour(story, id)
  const later = await story.scheduled(0)
  await story.settled(later, 'posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1, [textOf(later)]: 1 })
})

test('without a connected account an item goes back to approved, off the schedule, with the reason', async () => {
  const story = await newStory(app)
  const id = await story.scheduled(HOUR_MS)
  expect((await story.send('DELETE', 'connection')).status).toBe(200)
  await passAnHour(story, id)
  const item = await eventually(
    () => story.item(id),
    ({ post_at }) => post_at === null,
  )
  expect(item).toMatchObject({ status: 'approved', post_at: null, last_error: 'x_not_connected' })
  expect(await story.events()).toEqual(['growth.item.returned x_not_connected'])
  expect(await story.posts()).toEqual({})
})

test('an item that was changed after its approval goes back to drafted and is not sent', async () => {
  const story = await newStory(app)
  const id = await story.scheduled(HOUR_MS)
  await setItem(app, id, { body: app.owner`body || ' and more'` })
  await passAnHour(story, id)
  expect(await story.settled(id, 'drafted')).toMatchObject({
    status: 'drafted',
    post_at: null,
    last_error: 'approval_stale',
  })
  expect(await story.events()).toEqual(['growth.item.returned approval_stale'])
  expect(await story.posts()).toEqual({})
})

test('an item goes out from the account it was approved for, though another is the default by then', async () => {
  const story = await newStory(app)
  await secondAccount(story)
  const id = await story.scheduled(HOUR_MS)
  const { connections } = (await story.send('GET', 'connections')).body
  const other = connections.find(
    ({ external_id }: { external_id: string }) => external_id !== story.account,
  )
  expect((await story.send('POST', `connections/${other.id}/default`)).status).toBe(200)
  await passAnHour(story, id)
  await story.settled(id, 'posted')
  expect(await accountOf(textOf(id))).toEqual([story.account])
})

test('an item approved without a connected account goes out from the default account when it is due', async () => {
  const story = await newStory(app)
  await story.send('DELETE', 'connection')
  const id = await story.scheduled(HOUR_MS)
  const account = await secondAccount(story)
  await passAnHour(story, id)
  expect(await story.settled(id, 'posted')).toMatchObject({ account })
  expect(await accountOf(textOf(id))).toEqual([account])
})

test('an idle workspace wakes for its scheduled item', async () => {
  await using sleepy = await testApp({ database: db.options, overrides: { idleMs: 50 } })
  const story = await newStory(sleepy)
  const id = await story.scheduled(HOUR_MS)
  const released = async () =>
    (await app.owner`select owner from actor where tenant_id = ${story.tenantId}`)[0]?.owner ===
    null
  expect(
    await eventually(
      async () => sleepy.workplace.runtime.awake === 0 && (await released()),
      (gone) => gone,
    ),
  ).toBe(true)
  const { status, post_at } = await story.item(id)
  expect(status).toBe('approved')
  const wakes = async () =>
    (await app.owner`select wake_at from actor where tenant_id = ${story.tenantId}`)[0]!.wake_at
  expect(await wakes()).toEqual(new Date(post_at!))
  await makeOverdue(app, id, 0)
  expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted' })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test("items that fell due while no server ran follow their own policy, else the profile's", async () => {
  const cases = [
    { late: 30, outcome: 'posted' },
    { late: 59, outcome: 'posted' },
    { late: 61, outcome: 'missed' },
    { late: 5, item: 'skip', outcome: 'missed' },
    { late: 5, profile: 'skip', outcome: 'missed' },
    { late: 5, profile: 'skip', item: 'post', outcome: 'posted' },
    { late: 61, profile: 'skip', item: 'post', outcome: 'missed' },
  ] as const
  const stopped = await testApp({ database: db.options })
  const arranged = await Promise.all(
    cases.map(async ({ late, outcome, ...policy }) => {
      const story = await newStory(stopped)
      if ('profile' in policy)
        await story.send('PUT', 'profile', { body: { on_missed: policy.profile } })
      return {
        story,
        late,
        outcome,
        id: await story.scheduled(HOUR_MS, 'item' in policy ? { on_missed: policy.item } : {}),
      }
    }),
  )
  await stopped[Symbol.asyncDispose]()
  for (const { id, late } of arranged) await makeOverdue(app, id, late)
  for (const { story, id, outcome } of arranged) {
    const at = story.at(app)
    const item = await eventually(
      () => at.item(id),
      ({ post_at }) => post_at === null,
    )
    const text = textOf(id)
    if (outcome === 'posted') {
      expect(await at.settled(id, 'posted')).toMatchObject({ status: 'posted' })
      expect([await at.posts(), await at.events()]).toEqual([{ [text]: 1 }, ['growth.item.posted']])
    } else {
      expect(item).toMatchObject({ status: 'approved', post_at: null, last_error: 'missed' })
      expect([await at.posts(), await at.events()]).toEqual([{}, ['growth.item.returned missed']])
    }
  }
})

test('resuming automation follows the policy for overdue items', async () => {
  const story = await newStory(app)
  const [recent, old, skipped] = [
    await story.scheduled(HOUR_MS),
    await story.scheduled(HOUR_MS),
    await story.scheduled(HOUR_MS, { on_missed: 'skip' }),
  ]
  await story.send('POST', 'automation/pause-all')
  for (const [id, minutes] of [
    [recent, 30],
    [old, 90],
    [skipped, 30],
  ] as const) {
    await makeItemDue(app, id, new Date(Date.now() - minutes * 60_000))
  }
  await story.send('POST', 'automation/resume-all')
  await story.settled(recent, 'posted')
  for (const id of [old, skipped]) {
    const item = await eventually(
      () => story.item(id),
      ({ post_at }) => post_at === null,
    )
    expect(item).toMatchObject({ status: 'approved', post_at: null, last_error: 'missed' })
  }
  expect(await story.posts()).toEqual({ [textOf(recent)]: 1 })
})
