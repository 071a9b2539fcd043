/** Approving what was seen, and scheduling it with the same request. */
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { inMs, newStory, type Story, textOf } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

const app = useApp()

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const approve = (story: Story, id: string, body: object) => story.send('POST', `items/${id}/approve`, { body })
const auditOf = async (id: string) =>
  (await app.owner`select operation, detail from audit where ref_id = ${id} order by id`).map((row) => ({ ...row }))

test('an item is approved by the hash of its text, or the first digits of that; another one is refused with the present hash', async () => {
  const story = await newStory(app)
  const [id, other] = [await story.drafted(), await story.drafted()]
  const hash = sha(textOf(id))
  expect((await story.item(id)) as object).toMatchObject({ content_hash: hash })
  const refused = await approve(story, id, { expect_hash: sha('another text') })
  expect([refused.status, refused.body.error?.details]).toEqual([409, [{ path: 'content_hash', message: hash }]])
  expect((await approve(story, id, { expect_hash: hash })).body.item.status).toBe('approved')
  expect((await approve(story, other, { expect_hash: sha(textOf(other)).slice(0, 8) })).body.item.status).toBe('approved')
  expect((await approve(story, id, { expect_hash: 'short' })).status).toBe(400)
})

test('an edited text is approved over the one that was seen', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  const { body } = await approve(story, id, { expect_hash: sha(textOf(id)), edited_body: 'Better' })
  expect(body.item).toMatchObject({ status: 'approved', body: 'Better', content_hash: sha('Better'), revision: 2 })
})

test('approved and scheduled in one commit, it is posted when due', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  const post_at = inMs(0)
  const { body } = await approve(story, id, { post_at, on_missed: 'post' })
  expect(body.item).toMatchObject({ status: 'approved', post_at, on_missed: 'post', decision: { what: 'approved' } })
  expect(await auditOf(id)).toEqual([{ operation: 'growth.items.approve', detail: { post_at } }])
  await story.settled(id, 'posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a time that cannot be leaves the item a draft', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  const refused = await approve(story, id, { post_at: inMs(-3_600_000) })
  expect([refused.status, refused.body.error?.details?.[0]?.path]).toEqual([400, 'post_at'])
  expect((await approve(story, id, { on_missed: 'skip' })).body.error?.details?.[0]?.path).toBe('on_missed')
  expect((await story.item(id)).status).toBe('drafted')
})

test('next_slot takes the next free slot of the cadence', async () => {
  const story = await newStory(app)
  const { channels } = (await story.send('GET', 'overview')).body.overview
  const { id: channel } = channels.find(({ name }: { name: string }) => name === 'posts')
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
  const cadence = { days, times: ['09:00'], posts_per_day: 1, time_zone: 'UTC' }
  expect((await story.send('PUT', `channels/${channel}`, { body: { cadence } })).status).toBe(200)
  const times = []
  for (const id of [await story.drafted(), await story.drafted()])
    times.push(Date.parse((await approve(story, id, { post_at: 'next_slot' })).body.item.post_at))
  expect(times[1]! - times[0]!).toBe(86_400_000)
})

test('an item that is off the schedule already stays as it is', async () => {
  const story = await newStory(app)
  const id = await story.scheduled(3_600_000)
  const { body } = await story.send('POST', `items/${id}/unschedule`)
  const again = await story.send('POST', `items/${id}/unschedule`)
  expect([again.status, again.body]).toEqual([200, body])
  expect((await auditOf(id)).map(({ operation }) => operation)).toEqual(
    ['approve', 'schedule', 'unschedule'].map((one) => `growth.items.${one}`),
  )
  expect((await story.send('POST', `items/${await story.drafted()}/unschedule`)).status).toBe(409)
})
