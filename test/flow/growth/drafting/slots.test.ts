/** A minute that another post of the account has: refused if the caller asks so, or warned of. */
import { describe, expect, test } from 'bun:test'
import { testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { setItem } from '#test/support/database/writes'
import { inMs, newStory, type Story } from '#test/support/growth/story'
import { joinAs } from '#test/support/people'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const HOUR = 3_600_000
const hourly = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`)
const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

const ask = async (story: Story, path: string, body: object, key = story.key) => {
  const { status, body: answer } = await story.send('POST', path, { key, body })
  return { status, ...answer }
}
const approve = async (story: Story, post_at: string, more: object = { only_if_free: true }) =>
  ask(story, `items/${await story.drafted()}/approve`, { post_at, ...more })
const schedule = (story: Story, id: string, post_at: string) =>
  ask(story, `items/${id}/schedule`, { post_at, only_if_free: true })
const refused = { status: 409, error: { code: 'conflict', reason: 'slot_taken' } }
const codes = ({ warnings }: { warnings: { code: string }[] }) => warnings.map(({ code }) => code)
/** The same minute, at another second. */
const nearby = (time: string): string => `${time.slice(0, 17)}59.999Z`

test('is refused with who has it and the next free slot, and the draft stays one', async () => {
  const story = await newStory(app)
  await story.changeChannel('posts', { cadence: { days, times: hourly } })
  const { access, personId } = await joinAs(app, { tenantId: story.tenantId, role: 'approver' })
  const first = await story.drafted()
  const path = `items/${first}/approve`
  const { item } = await ask(story, path, { post_at: 'next_slot', only_if_free: true }, access)
  const second = await story.drafted()
  const late = await ask(story, `items/${second}/approve`, {
    post_at: nearby(item.post_at),
    only_if_free: true,
  })
  const next = new Date(Date.parse(item.post_at) + HOUR).toISOString()
  expect(late).toMatchObject({
    ...refused,
    error: {
      message: expect.stringContaining(`; the next free slot is ${next}`),
      by: { kind: 'person', id: personId, name: null },
      at: item.decision.at,
      next_free_at: next,
      details: [{ path: 'next', message: `growth.items.get ${first}` }],
    },
  })
  expect((await story.item(second)).status).toBe('drafted')
  const { status } = await ask(story, `items/${second}/approve`, {
    post_at: next,
    only_if_free: true,
  })
  expect(status).toBe(200)
  // Of two slots in a row, the one after the minute that was asked for.
  expect((await approve(story, item.post_at)).error.next_free_at).toBe(
    new Date(Date.parse(next) + HOUR).toISOString(),
  )
  // Its own minute is free for it, and a minute that was left is free for all.
  expect((await schedule(story, first, nearby(item.post_at))).status).toBe(200)
  await story.send('POST', `items/${first}/unschedule`)
  expect((await approve(story, item.post_at)).status).toBe(200)
  // Without a cadence there is no slot to name.
  await story.changeChannel('posts', { cadence: { days: [], times: [] } })
  expect((await approve(story, item.post_at)).error.next_free_at).toBeNull()
})

test('is a warning where the caller does not ask, in answers and in previews', async () => {
  const story = await newStory(app)
  await story.changeChannel('posts', { cadence: { days: [], times: [] } })
  const at = inMs(HOUR)
  const first = await story.drafted()
  expect(codes((await ask(story, `items/${first}/approve`, { post_at: at })).item)).toEqual([])
  const { item } = await approve(story, nearby(at), { only_if_free: false })
  expect(item.warnings).toEqual([
    {
      code: 'slot_taken',
      message: `item ${first} of the same account has this minute`,
      item_id: first,
    },
  ])
  const preview = async (more: object) =>
    codes((await ask(story, 'items/preview', { body: 'A text', ...more })).preview)
  expect(await preview({ post_at: at })).toEqual(['slot_taken'])
  expect(await preview({ post_at: inMs(2 * HOUR) })).toEqual([])
  expect(await preview({})).toEqual([])
  await story.send('POST', `items/${item.id}/unschedule`)
  expect(await preview({ post_at: at, item_id: first })).toEqual([])
  await story.changeChannel('posts', { cadence: { days, times: ['00:00'] } })
  expect(await preview({ post_at: `${inMs(48 * HOUR).slice(0, 10)}T10:30:00Z` })).toEqual([
    'outside_cadence',
  ])
})

describe('is had', () => {
  test.each([
    ['publishing', true],
    ['publish_unconfirmed', true],
    ['posted', true],
    ['approved', true],
    ['rejected', false],
    ['publish_failed', false],
  ] as const)('by a post that is %s: %p', async (status, isTaken) => {
    const story = await newStory(app)
    const post_at = new Date(Date.now() + HOUR)
    await setItem(app, await story.approved(), {
      status,
      ...(status === 'posted' ? { posted_at: post_at } : { post_at }),
    })
    expect((await approve(story, post_at.toISOString())).status).toBe(isTaken ? 409 : 200)
  })

  test('by one that a person posts at once, from its request on', async () => {
    const story = await newStory(app)
    const now = new Date()
    const id = await story.approved()
    await setItem(app, id, { status: 'publishing', updated_at: now })
    expect(await approve(story, now.toISOString())).toMatchObject(refused)
    await app.owner`insert into attempt (id, tenant_id, item_id, number, connection_id, body_sha,
      origin, state, intent_at, lease_until, sendable)
      select gen_random_uuid(), tenant_id, ${id}, 1, id, '', 'manual', 'doubt', ${now},
        ${now}, 'post' from connection where tenant_id = ${story.tenantId}`
    // Reading the timeline changes the item; that is not when it was posted.
    await setItem(app, id, { status: 'publish_unconfirmed', updated_at: new Date(0) })
    expect(await approve(story, now.toISOString())).toMatchObject(refused)
    expect((await approve(story, inMs(HOUR))).status).toBe(200)
  })

  test('by none of another account, and by those of the account that the item goes out from', async () => {
    const story = await newStory(app)
    const { access } = await joinAs(app, { tenantId: story.tenantId, role: 'owner' })
    const { connection } = (
      await app.send('POST', '/api/v1/app/connections/sandbox', {
        key: access,
        body: { handle: `b-${story.tenantId.slice(-12)}` },
      })
    ).body
    const at = inMs(HOUR)
    const write = async (account?: string) =>
      (await ask(story, 'items', { body: `From ${account}`, account })).item.id as string
    const book = async (account?: string) =>
      ask(story, `items/${await write(account)}/approve`, { post_at: at, only_if_free: true })
    expect((await book()).status).toBe(200)
    expect((await book(connection.account.id)).status).toBe(200)
    expect(await book()).toMatchObject(refused)
    expect(await book(connection.account.id)).toMatchObject(refused)
    const free = await ask(story, 'items/preview', { body: 'A', post_at: at })
    expect(codes(free.preview)).toContain('slot_taken')
  })
})

test('in bulk, each entry sees those before it', async () => {
  const story = await newStory(app)
  const at = inMs(HOUR)
  const items = await Promise.all(
    [at, nearby(at), inMs(2 * HOUR)].map(async (post_at) => {
      const id = await story.approved()
      return { id, post_at, only_if_free: true }
    }),
  )
  const { results } = await ask(story, 'items/bulk', { action: 'schedule', items })
  expect(
    results.map(({ item, error }: { item: unknown; error: { reason: string } | null }) =>
      item ? 'done' : error?.reason,
    ),
  ).toEqual(['done', 'slot_taken', 'done'])
})

test('in bulk, the calendar is read once, with what the entries before have changed', async () => {
  await using db = await freshDb()
  const texts: string[] = []
  await using watched = await testApp({
    database: { ...db.options, onStatement: (_, text) => void texts.push(text) },
  })
  const story = await newStory(watched)
  await story.changeChannel('posts', { cadence: { days, times: hourly } })
  const first = await ask(story, `items/${await story.approved()}/schedule`, {
    post_at: 'next_slot',
  })
  const slot = (nth: number) => new Date(Date.parse(first.item.post_at) + nth * HOUR).toISOString()
  const asked = [slot(0), slot(1), slot(0), 'next_slot', slot(2), slot(0)]
  const items = []
  for (const post_at of asked)
    items.push({ id: await story.approved(), post_at, only_if_free: true })
  texts.length = 0
  const { results } = await ask(story, 'items/bulk', { action: 'schedule', items })
  interface Result {
    item: { post_at: string } | null
    error: { next_free_at: string } | null
  }
  expect(results.map(({ item, error }: Result) => item?.post_at ?? [error?.next_free_at])).toEqual([
    [slot(1)],
    slot(1),
    [slot(2)],
    slot(2),
    [slot(3)],
    [slot(3)],
  ])
  expect(texts.filter((text) => text.includes('true as ahead'))).toHaveLength(1)
})

test('only_if_free needs a time', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  expect(await ask(story, `items/${id}/approve`, { only_if_free: true })).toMatchObject({
    status: 400,
    error: { message: 'only_if_free only applies with post_at' },
  })
})
