/** Simultaneous retries under one Idempotency-Key, once there is an answer to replay. */
import { expect, test } from 'bun:test'
import { sendTimes } from '#domain/growth/sending/times'
import { testFailpoints } from '#test/support/actors/failpoints'
import { testApp } from '#test/support/app'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { useApp } from '#test/support/use'

const times = { ...sendTimes, settleMs: 300, windowMs: 60_000 }
const MANY = 100

const points = testFailpoints()
const app = useApp({ overrides: { times, failpoints: points.at } })
const other = useApp(() => ({ database: app.options, overrides: { times } }))

const postNow = (story: Story, id: string, key: string) =>
  story.send('POST', `items/${id}/post-now`, { headers: { 'idempotency-key': key } })

const together = <T>(run: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: MANY }, (_, index) => run(index)))

/** The number of answers of each kind. */
const kinds = (replies: Awaited<ReturnType<typeof postNow>>[]): Record<string, number> => {
  const count: Record<string, number> = {}
  for (const { status, headers, body } of replies) {
    const kind = [status, body.error?.code, headers.get('idempotency-replayed') && 'replayed']
      .filter(Boolean)
      .join(' ')
    count[kind] = (count[kind] ?? 0) + 1
  }
  return count
}

test('a hundred simultaneous retries of a finished post-now all get its answer, and nothing is sent again', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  const first = await postNow(story, id, 'finished')
  const replies = await together(() => postNow(story, id, 'finished'))
  expect(kinds(replies)).toEqual({ '200 replayed': MANY })
  expect(new Set(replies.map(({ text }) => text))).toEqual(new Set([first.text]))
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('so do retries through another server', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  const first = await postNow(story, id, 'elsewhere')
  const replies = await together((index) =>
    postNow(story.at(index % 2 ? other : app), id, 'elsewhere'),
  )
  expect(kinds(replies)).toEqual({ '200 replayed': MANY })
  expect(new Set(replies.map(({ text }) => text))).toEqual(new Set([first.text]))
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('retries that reuse the key for another request are all refused, among replays', async () => {
  const story = await newStory(app)
  const [id, another] = [await story.approved(), await story.approved()]
  await postNow(story, id, 'taken')
  const replies = await together((index) => postNow(story, index % 2 ? id : another, 'taken'))
  expect(kinds(replies)).toEqual({
    '200 replayed': MANY / 2,
    '422 idempotency_key_reused': MANY / 2,
  })
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('while the first caller waits, all retries are in flight', async () => {
  const story = await newStory(app)
  const id = await story.approved()
  points.arm('send.sent', 'hang')
  const first = postNow(story, id, 'waiting')
  await points.reached('send.sent')
  const replies = await together(() => postNow(story, id, 'waiting'))
  expect(kinds(replies)).toEqual({ '409 idempotency_in_flight': MANY })
  expect((await postNow(story, id, 'another')).body.error.code).toBe('conflict')
  points.release('send.sent')
  expect((await first).status).toBe(200)
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('once the first caller has stopped waiting for a post in doubt, all retries get the current item', async () => {
  await using slow = await testApp({
    database: app.options,
    env: { SANDBOX_FAULTS: '500=1' },
    overrides: { times, replyWithinMs: 50 },
  })
  const story = await newStory(slow)
  const id = await story.approved()
  expect((await postNow(story, id, 'doubt')).status).toBe(202)
  await story.settled(id, 'publish_unconfirmed')
  expect(kinds(await together(() => postNow(story, id, 'doubt')))).toEqual({ '202': MANY })
  expect(await app.owner`select 1 from attempt where item_id = ${id}`).toHaveLength(1)
})
