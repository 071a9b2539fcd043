/** Post now, and what its Idempotency-Key promises. */
import { expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { testFailpoints } from '#test/support/actors/failpoints'
import { eventually, testApp } from '#test/support/app'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

const times = { ...sendTimes, settleMs: 300, windowMs: 60_000 }

const points = testFailpoints()
const app = useApp({ overrides: { times, failpoints: points.at } })

const postNow = (story: Story, id: string, key?: string) =>
  story.send(
    'POST',
    `items/${id}/post-now`,
    key === undefined ? {} : { headers: { 'idempotency-key': key } },
  )

/** Another server on the same database, with faults in its network and workspaces of its own. */
const failing = (faults: string, replyWithinMs = 10_000) =>
  testApp({
    database: app.options,
    env: { SANDBOX_FAULTS: faults },
    overrides: { times, replyWithinMs },
  })

test('of a hundred simultaneous requests under one key one runs; the others are in flight or get its answer, byte for byte', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => postNow(story, id, 'one key')),
  )
  const answered = replies.filter(({ status }) => status === 200)
  expect(answered.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1)
  expect(new Set(answered.map(({ text }) => text)).size).toBe(1)
  const others = replies.filter(({ status }) => status !== 200)
  expect(new Set(others.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(
    new Set(['409 idempotency_in_flight']),
  )
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
  const replay = await postNow(story, id, 'one key')
  expect([replay.status, replay.text, replay.headers.get('idempotency-replayed')]).toEqual([
    200,
    answered[0]!.text,
    'true',
  ])
})

test('of a hundred simultaneous requests under different keys one posts and the others conflict', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, index) => postNow(story, id, `key ${index}`)),
  )
  const outcomes = replies
    .map(({ status, body }) => `${status} ${body.error?.code ?? body.item.status}`)
    .sort()
  expect(outcomes).toEqual(['200 posted', ...Array.from({ length: 99 }, () => '409 conflict')])
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a key that was used for another item is refused, in flight or answered', async () => {
  const story = await newStory(app)
  const [id, other] = [await story.approved(), await story.approved()]
  points.arm('send.claimed', 'hang')
  const first = postNow(story, id, 'taken')
  await points.reached('send.claimed')
  expect((await postNow(story, other, 'taken')).body.error.code).toBe('idempotency_key_reused')
  points.release('send.claimed')
  expect((await first).status).toBe(200)
  expect((await postNow(story, other, 'taken')).body.error.code).toBe('idempotency_key_reused')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a doubt that outlasts the wait is 202 with the current item, and 200 under the same key once the post is found', async () => {
  await using slow = await failing('applied502=1', 50)
  const story = await newStory(slow)
  const id = await story.approved()
  const first = await postNow(story, id, 'doubtful')
  expect(first.status).toBe(202)
  expect(['publishing', 'publish_unconfirmed']).toContain(first.body.item.status)
  expect(first.headers.has('idempotency-replayed')).toBe(false)
  expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted', last_error: null })
  const replay = await postNow(story, id, 'doubtful')
  expect([replay.status, replay.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
  expect((await postNow(story, id, 'doubtful')).text).toBe(replay.text)
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a proven failure is answered as an error, leaves the item approved and frees the key', async () => {
  await using limited = await failing('429=1')
  const story = await newStory(limited)
  const id = await story.approved()
  for (const _ of ['first', 'again under the same key']) {
    const reply = await postNow(story, id, 'limited')
    expect([reply.status, reply.body.error.message, reply.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited:network',
      '2',
    ])
    expect(await story.item(id)).toMatchObject({
      status: 'approved',
      last_error: 'rate_limited',
      post_at: null,
    })
  }
  const attempts = await app.owner`select state from attempt where item_id = ${id}`
  expect(attempts.map(({ state }) => state)).toEqual(['failed', 'failed'])
  expect(await story.posts()).toEqual({})
})

test('a request whose caller disconnects still posts, and the same key gets the answer', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  points.arm('send.claimed', 'hang')
  const gone = new AbortController()
  const headers = { authorization: `Bearer ${story.key}`, 'idempotency-key': 'gone' }
  const request = { method: 'POST', headers, signal: gone.signal }
  const first = fetch(`${app.url}/api/v1/growth/items/${id}/post-now`, request).catch(
    (cause: Error) => cause.name,
  )
  await points.reached('send.claimed')
  gone.abort()
  expect(await first).toBe('AbortError')
  points.release('send.claimed')
  const replay = await eventually(
    () => postNow(story, id, 'gone'),
    ({ status }) => status === 200,
  )
  expect(replay.body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})
