/**
 * A 5xx of a network that promises how late it may still apply it: the doubt ends by itself, once,
 * and never in a second post.
 */
import { expect, test } from 'bun:test'
import { eventually } from '#test/support/app'
import { endLeaseAtIntent, insertSandboxPost } from '#test/support/database/writes'
import { applied, postNow, refused, useReturns, wake } from '#test/support/growth/returned'
import { newStory, textOf } from '#test/support/growth/story'
import { lostRequest } from '#test/support/growth/unreliable'
import { asPerson } from '#test/support/session'

const REASON = 'network_error_not_posted'
const { app, network, attempts, sends, postUntilDoubt, heldReads, decided, restWatch, returned } =
  useReturns()

test('a 5xx that posted nothing returns the item to approved, unscheduled and with its key free; only a new request sends it', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  network.answers.set(textOf(id), refused)
  const held = heldReads()
  const { pending, item: doubtful } = await postUntilDoubt(story, id)
  held[Symbol.dispose]()
  expect(doubtful).toMatchObject({
    status: 'publish_unconfirmed',
    review: false,
    last_error: '503',
  })
  expect(doubtful.doubt).toEqual({
    cause: 'server_error',
    resolves: 'by_itself',
    next_read_at: expect.any(String),
  })
  const reply = await pending
  expect([reply.status, reply.body.error?.code]).toEqual([502, 'network_error'])
  expect(await story.item(id)).toMatchObject({
    status: 'approved',
    post_at: null,
    last_error: REASON,
    doubt: null,
  })
  expect([await attempts(id), sends(textOf(id))]).toEqual([['returned'], 1])
  expect(await story.events()).toEqual([`growth.item.returned ${REASON}`])
  expect(await app.owner`select 1 from idempotency where ref_id = ${id}`).toHaveLength(0)
  const again = await postNow(story, id)
  expect([again.status, again.body.item.status, again.headers.get('idempotency-replayed')]).toEqual(
    [200, 'posted', null],
  )
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
  expect([await attempts(id), sends(textOf(id))]).toEqual([['returned', 'posted'], 2])
})

test('a 5xx that posted nothing takes a scheduled item off the schedule', async () => {
  const story = await newStory(app)
  const id = await story.drafted()
  network.answers.set(textOf(id), refused)
  await story.send('POST', `items/${id}/approve`)
  {
    using _held = heldReads()
    await story.send('POST', `items/${id}/schedule`, {
      body: { post_at: new Date().toISOString() },
    })
    await story.settled(id, 'publish_unconfirmed')
  }
  expect(await decided(story, id)).toMatchObject({
    status: 'approved',
    post_at: null,
    last_error: REASON,
  })
  expect(await app.owner`select 1 from work where ref_id = ${id} and kind = 'send'`).toHaveLength(0)
  expect(sends(textOf(id))).toBe(1)
})

test('after a 5xx that did post, the post is found', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  network.answers.set(textOf(id), applied)
  expect((await postNow(story, id)).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a time-out goes to review, and the item says so', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  network.answers.set(textOf(id), lostRequest)
  await postUntilDoubt(story, id)
  expect((await story.item(id)).doubt).toMatchObject({ cause: 'no_answer', resolves: 'by_person' })
  expect(await decided(story, id)).toMatchObject({
    status: 'publish_unconfirmed',
    review: true,
    doubt: { resolves: 'by_person' },
  })
  expect(await attempts(id)).toEqual(['review'])
})

test('a post of the same text that a person has made and named for another item is not in the way of the next send', async () => {
  const story = await newStory(app)
  const id = await returned(story)
  await restWatch(id)
  const post = await insertSandboxPost(app, story.account, textOf(id))
  const other = await story.approved(textOf(id))
  await story.send('POST', `items/${other}/posted`, {
    body: { url: `https://sandbox.example/status/${post}` },
  })
  await eventually(
    () => story.item(other),
    ({ external_id }) => external_id === post,
  )
  const reply = await postNow(story, id, 'again')
  expect([reply.status, reply.body.item?.status]).toEqual([200, 'posted'])
  expect([await attempts(id), await story.posts()]).toEqual([
    ['returned', 'posted'],
    { [textOf(id)]: 2 },
  ])
})

test('a second 5xx of the same item goes to review', async () => {
  const story = await newStory(app)
  const id = await returned(story)
  network.answers.set(textOf(id), refused)
  await postUntilDoubt(story, id)
  expect(await decided(story, id)).toMatchObject({
    status: 'publish_unconfirmed',
    review: true,
    doubt: { resolves: 'by_person' },
  })
  expect(await attempts(id)).toEqual(['returned', 'review'])
})

test('when a person has an item in doubt posted again, a 5xx does not return it by itself', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  network.answers.set(textOf(id), lostRequest)
  await postUntilDoubt(story, id)
  await decided(story, id)
  await endLeaseAtIntent(app, id)
  network.answers.set(textOf(id), refused)
  void asPerson(app, story.tenantId)('growth.items.postNow', { id, confirm: 'post_again' })
  await eventually(
    () => attempts(id),
    (states) => states.join() === 'superseded,review',
  )
  expect(await story.item(id)).toMatchObject({
    status: 'publish_unconfirmed',
    review: true,
    doubt: { resolves: 'by_person' },
  })
})

test('a read that is incomplete or may show the post proves nothing', async () => {
  const story = await newStory(app)
  const [cutOff, similar] = [await story.approved(), await story.approved()]
  network.view = (timeline) => ({ ...timeline, complete: false })
  network.answers.set(textOf(cutOff), refused)
  await postUntilDoubt(story, cutOff)
  const count = async () => network.reads.filter((account) => account === story.account).length
  const before = await count()
  await eventually(count, (reads) => reads > before + 4)
  expect(await story.item(cutOff)).toMatchObject({
    status: 'publish_unconfirmed',
    review: false,
    doubt: { resolves: 'by_itself' },
  })
  const cut = {
    externalId: 'x',
    text: `${textOf(similar).slice(0, 12)}…`,
    truncated: true,
    createdAt: new Date(),
    url: null,
  }
  network.view = () => ({ posts: [{ ...cut, createdAt: new Date() }], complete: true })
  network.answers.set(textOf(similar), refused)
  await postUntilDoubt(story, similar, 'another')
  expect(await decided(story, similar)).toMatchObject({
    status: 'publish_unconfirmed',
    review: true,
    doubt: { resolves: 'by_person' },
  })
  network.view = (timeline) => timeline
})

test('nothing is read while automation is paused, and the item says so', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  network.answers.set(textOf(id), refused)
  network.view = (timeline) => ({ ...timeline, complete: false })
  await story.send('POST', `items/${id}/schedule`, { body: { post_at: new Date().toISOString() } })
  await story.settled(id, 'publish_unconfirmed')
  await story.send('POST', 'automation/pause-all')
  expect((await story.item(id)).doubt).toEqual({
    cause: 'server_error',
    resolves: 'by_itself',
    next_read_at: null,
  })
  network.view = (timeline) => timeline
  await wake(story)
  expect((await decided(story, id)).status).toBe('approved')
})
