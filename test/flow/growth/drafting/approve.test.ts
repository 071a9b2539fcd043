/**
 * Approving what was seen, scheduling it with the same request, and the slots of the cadence that a
 * schedule takes.
 */

import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { nextSlot } from '#domain/growth/drafting/cadence'
import { setItem } from '#test/support/database/writes'
import { inMs, newStory, type Story, textOf } from '#test/support/growth/story'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const approve = (story: Story, id: string, body: object) =>
  story.send('POST', `items/${id}/approve`, { body })
const auditOf = async (id: string) =>
  (await app.owner`select operation, detail from audit where ref_id = ${id} order by id`).map(
    (row) => ({ ...row }),
  )

test('an item is approved by the hash of its text, or the first digits of that; another one is refused with the present hash', async () => {
  const story = await newStory(app)
  const [id, other] = [await story.drafted(), await story.drafted()]
  const hash = sha(textOf(id))
  expect((await story.item(id)) as object).toMatchObject({ content_hash: hash })
  const refused = await approve(story, id, { expect_hash: sha('another text') })
  expect([refused.status, refused.body.error?.details]).toEqual([
    409,
    [{ path: 'content_hash', message: hash }],
  ])
  expect((await approve(story, id, { expect_hash: hash })).body.item.status).toBe('approved')
  expect(
    (await approve(story, other, { expect_hash: sha(textOf(other)).slice(0, 8) })).body.item.status,
  ).toBe('approved')
  expect((await approve(story, id, { expect_hash: 'short' })).status).toBe(400)
})

test('an edited text is approved over the one that was seen', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  const { body } = await approve(story, id, { expect_hash: sha(textOf(id)), edited_body: 'Better' })
  expect(body.item).toMatchObject({
    status: 'approved',
    body: 'Better',
    content_hash: sha('Better'),
    revision: 2,
  })
})

test('approved and scheduled in one commit, it is posted when due', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  const post_at = inMs(0)
  const { body } = await approve(story, id, { post_at, on_missed: 'post' })
  expect(body.item).toMatchObject({
    status: 'approved',
    post_at,
    on_missed: 'post',
    decision: { what: 'approved' },
  })
  await story.settled(id, 'posted')
  const [approved] = await auditOf(id)
  expect(approved).toEqual({ operation: 'growth.items.approve', detail: { post_at } })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a time that cannot be leaves the item a draft', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  const refused = await approve(story, id, { post_at: inMs(-3_600_000) })
  expect([refused.status, refused.body.error?.details?.[0]?.path]).toEqual([400, 'post_at'])
  expect((await approve(story, id, { on_missed: 'skip' })).body.error?.details?.[0]?.path).toBe(
    'on_missed',
  )
  expect((await story.item(id)).status).toBe('drafted')
})

/**
 * A zone where it is between noon and one o'clock now, so that no test runs past midnight there.
 */
const noonZone = (): string => {
  const ahead = 12 - new Date().getUTCHours()
  return ahead > 0 ? `Etc/GMT-${ahead}` : `Etc/GMT+${-ahead}`
}

const nextMidnight = (zone: string): Date => {
  const ahead = -Number(zone.slice('Etc/GMT'.length)) * 3_600_000
  return new Date(Math.ceil((Date.now() + ahead) / 86_400_000) * 86_400_000 - ahead)
}

describe('the next slot', () => {
  const DAILY = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
  const schedule = (story: Story, id: string, post_at = 'next_slot') =>
    story.send('POST', `items/${id}/schedule`, { body: { post_at } })

  test('takes the next free slot, keeps it when asked again, and takes one that becomes free', async () => {
    const story = await newStory(app)
    await story.changeChannel('posts', {
      cadence: { days: DAILY, times: ['06:30'], time_zone: noonZone() },
    })
    const { channels } = (await story.send('GET', 'overview')).body.overview
    const now = new Date()
    const expected = nextSlot(channels[0].cadence, { zone: 'UTC', taken: [], counted: [], now })!
    const [first, second] = [await story.approved(), await story.approved()]
    expect((await schedule(story, first)).body.item.post_at).toBe(expected.toISOString())
    expect((await schedule(story, first)).body.item.post_at).toBe(expected.toISOString())
    const later = (await schedule(story, second)).body.item.post_at
    expect(new Date(later).getTime() - expected.getTime()).toBe(86_400_000)
    await story.send('POST', `items/${first}/unschedule`)
    expect((await schedule(story, second)).body.item.post_at).toBe(expected.toISOString())
  })

  test('gives 20 simultaneous requests 20 different slots', async () => {
    const story = await newStory(app)
    const ids = await Promise.all(Array.from({ length: 20 }, () => story.approved()))
    const replies = await Promise.all(ids.map((id) => schedule(story, id)))
    expect(replies.map(({ status }) => status)).toEqual(ids.map(() => 200))
    const slots = replies.map(({ body }) => body.item.post_at as string)
    expect(new Set(slots).size).toBe(20)
    for (const slot of slots) expect(slot).toMatch(/T(?:09|17):00:00/)
  })

  test("counts today's posts towards posts_per_day and skips the minute of an article", async () => {
    const story = await newStory(app)
    const time_zone = noonZone()
    const everyHour = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`)
    await story.changeChannel('posts', {
      cadence: { days: DAILY, times: everyHour, time_zone, posts_per_day: 1 },
    })
    const posted = await story.approved()
    await story.send('POST', `items/${posted}/posted`)
    const tomorrow = nextMidnight(time_zone)
    const id = await story.approved()
    expect((await schedule(story, id)).body.item.post_at).toBe(tomorrow.toISOString())
    const other = await story.drafted()
    await setItem(app, other, {
      kind: 'article',
      status: 'approved',
      post_at: new Date(tomorrow.getTime() + 86_400_000 + 30_000),
    })
    const after = await story.approved()
    expect((await schedule(story, after)).body.item.post_at).toBe(
      new Date(tomorrow.getTime() + 86_400_000 + 3_600_000).toISOString(),
    )
  })

  test('needs a cadence and a free slot within 60 days', async () => {
    const story = await newStory(app)
    await story.changeChannel('posts', { cadence: { days: ['mon'], times: ['09:00'] } })
    const ids = await Promise.all(Array.from({ length: 10 }, () => story.approved()))
    const statuses: number[] = []
    for (const id of ids) statuses.push((await schedule(story, id)).status)
    expect(statuses.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 200))
    const full = await schedule(story, ids[9]!)
    expect([full.status, full.body.error?.message]).toEqual([
      409,
      'cannot schedule: channel posts has no free slot within 60 days; give a time, or add times to its cadence',
    ])
    await story.changeChannel('posts', { cadence: { days: [], times: [] } })
    expect((await schedule(story, ids[9]!)).body.error).toMatchObject({
      code: 'invalid_input',
      message:
        'post_at is next_slot, but channel posts has no cadence; set its days and times first',
      details: [{ path: 'post_at' }],
    })
    expect((await schedule(story, await story.drafted())).status).toBe(409)
    expect((await schedule(story, ids[9]!, 'next slot')).body.error).toMatchObject({
      message:
        'post_at must be an ISO 8601 timestamp, such as 2026-12-24T09:00:00+01:00, or next_slot',
      details: [{ path: 'post_at' }],
    })
  })

  test('is taken by an approval', async () => {
    const story = await newStory(app)
    await story.changeChannel('posts', {
      cadence: { days: DAILY, times: ['09:00'], posts_per_day: 1, time_zone: 'UTC' },
    })
    const times = []
    for (const id of [await story.drafted(), await story.drafted()])
      times.push(Date.parse((await approve(story, id, { post_at: 'next_slot' })).body.item.post_at))
    expect(times[1]! - times[0]!).toBe(86_400_000)
  })
})
