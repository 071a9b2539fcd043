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

const other = useApp(() => ({ database: app.options, overrides: { times } }))

/** Another server on the same database, with faults in its network and workspaces of its own. */
const failing = (faults: string, replyWithinMs = 10_000) =>
  testApp({
    database: app.options,
    env: { SANDBOX_FAULTS: faults },
    overrides: { times, replyWithinMs },
  })

/** More than the connections of a server, so that some wait for others. */
const MANY = 40
const together = <T>(run: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: MANY }, (_, index) => run(index)))

/** The number of answers of each kind. */
const kinds = (replies: Awaited<ReturnType<Story['postNow']>>[]): Record<string, number> => {
  const count: Record<string, number> = {}
  for (const { status, headers, body } of replies) {
    const kind = [status, body.error?.code, headers.get('idempotency-replayed') && 'replayed']
      .filter(Boolean)
      .join(' ')
    count[kind] = (count[kind] ?? 0) + 1
  }
  return count
}

test('of simultaneous requests under one key one runs; the others are in flight or get its answer, byte for byte', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  const replies = await together(() => story.postNow(id, 'one key'))
  const { 200: ran, ...others } = kinds(replies)
  expect(ran).toBe(1)
  expect(['409 idempotency_in_flight', '200 replayed']).toEqual(
    expect.arrayContaining(Object.keys(others)),
  )
  expect(new Set(replies.filter(({ status }) => status === 200).map(({ text }) => text)).size).toBe(
    1,
  )
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('of simultaneous requests under different keys one posts and the others conflict', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  const replies = await together((index) => story.postNow(id, `key ${index}`))
  expect(kinds(replies)).toEqual({ 200: 1, '409 conflict': MANY - 1 })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('simultaneous retries of a finished post get its answer from every server; for another item they are refused', async () => {
  const story = await newStory(app)
  const [id, another] = [await story.approved(), await story.approved()]
  const first = await story.postNow(id, 'finished')
  const replies = await together((index) =>
    story.at(index % 2 ? other : app).postNow(index % 4 < 2 ? id : another, 'finished'),
  )
  expect(kinds(replies)).toEqual({
    '200 replayed': MANY / 2,
    '422 idempotency_key_reused': MANY / 2,
  })
  expect(new Set(replies.filter(({ status }) => status === 200).map(({ text }) => text))).toEqual(
    new Set([first.text]),
  )
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('while the first caller waits, retries are in flight, and the key is taken for other items', async () => {
  const story = await newStory(app)
  const [id, another] = [await story.approved(), await story.approved()]
  points.arm('send.sent', 'hang')
  const first = story.postNow(id, 'waiting')
  await points.reached('send.sent')
  const replies = await together(() => story.postNow(id, 'waiting'))
  expect(kinds(replies)).toEqual({ '409 idempotency_in_flight': MANY })
  expect((await story.postNow(id, 'another')).body.error.code).toBe('conflict')
  expect((await story.postNow(another, 'waiting')).body.error.code).toBe('idempotency_key_reused')
  points.release('send.sent')
  expect((await first).status).toBe(200)
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('once the first caller has stopped waiting for a post in doubt, all retries get the current item', async () => {
  await using slow = await failing('500=1', 50)
  const story = await newStory(slow)
  const id = await story.approved()
  expect((await story.postNow(id, 'doubt')).status).toBe(202)
  await story.settled(id, 'publish_unconfirmed')
  expect(kinds(await together(() => story.postNow(id, 'doubt')))).toEqual({ '202': MANY })
  expect(await app.owner`select 1 from attempt where item_id = ${id}`).toHaveLength(1)
})

test('a caller that waits no time gets the item as it is; the same key with another wait finds the outcome', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  const postNow = (wait?: unknown) =>
    story.send('POST', `items/${id}/post-now`, {
      headers: { 'idempotency-key': 'patience' },
      body: wait === undefined ? {} : { wait },
    })
  expect((await postNow(21)).body.error.message).toBe('wait must be at most 20')
  expect((await postNow(-1)).status).toBe(400)
  points.arm('send.sent', 'hang')
  const first = await postNow(0)
  expect([first.status, first.body.item.status]).toEqual([202, 'publishing'])
  await points.reached('send.sent')
  for (const wait of [0, 20, undefined]) {
    const { status, body } = await postNow(wait)
    expect([status, body.item.status]).toEqual([202, 'publishing'])
  }
  points.release('send.sent')
  const { posted_at } = await story.settled(id, 'posted')
  for (const wait of [7, undefined]) {
    const { status, headers, body } = await postNow(wait)
    expect([status, headers.get('idempotency-replayed')]).toEqual([200, 'true'])
    expect(body.item).toMatchObject({ status: 'posted', posted_at })
  }
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a doubt that outlasts the wait is 202 with the current item, and 200 under the same key once the post is found', async () => {
  await using slow = await failing('applied502=1', 50)
  const story = await newStory(slow)
  const id = await story.approved()
  const first = await story.postNow(id, 'doubtful')
  expect(first.status).toBe(202)
  expect(['publishing', 'publish_unconfirmed']).toContain(first.body.item.status)
  expect(first.headers.has('idempotency-replayed')).toBe(false)
  expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted', last_error: null })
  const replay = await story.postNow(id, 'doubtful')
  expect([replay.status, replay.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
  expect((await story.postNow(id, 'doubtful')).text).toBe(replay.text)
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('a proven failure is answered as an error, leaves the item approved and frees the key', async () => {
  await using limited = await failing('429=1')
  const story = await newStory(limited)
  const id = await story.approved()
  for (const _ of ['first', 'again under the same key']) {
    const reply = await story.postNow(id, 'limited')
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
    () => story.postNow(id, 'gone'),
    ({ status }) => status === 200,
  )
  expect(replay.body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})
