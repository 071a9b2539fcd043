/**
 * A faulty network: whatever it does, each text is posted at most once, and the item says what
 * happened.
 */
import { expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { type TestFailpoints, testFailpoints } from '#test/support/actors/failpoints'
import { eventually, type TestApp, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { makeDue, setItem } from '#test/support/database/writes'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import { unreliable } from '#test/support/growth/unreliable'
import { use } from '#test/support/use'

const times: SendTimes = {
  ...sendTimes,
  deadlineMs: 2_000,
  settleMs: 50,
  windowMs: 200,
  backoffMs: [20, 20, 20, 20],
}

const db = use(freshDb)

const failing = (
  faults: string,
  more: Partial<SendTimes> = {},
  points?: TestFailpoints,
): Promise<TestApp> =>
  testApp({
    database: db.options,
    env: { SANDBOX_FAULTS: faults },
    overrides: {
      times: { ...times, ...more },
      replyWithinMs: 10_000,
      ...(points ? { failpoints: points.at } : {}),
    },
  })

const postNow = (story: Story, id: string) => story.send('POST', `items/${id}/post-now`)
const inReview = (story: Story, id: string) =>
  eventually(
    () => story.item(id),
    ({ review, status }) => review || status === 'posted',
  )

test.each(['applied502=1', 'drop=1', 'applied502=1,lag=150ms'])(
  '%s: what was applied is found, for people and on schedule',
  async (faults) => {
    await using app = await failing(faults, { cleanReads: 50, windowMs: 2_500 })
    const story = await newStory(app)
    const [now, due] = [await story.approved(), await story.scheduled(0)]
    const reply = await postNow(story, now)
    expect([reply.status, reply.body.item.status]).toEqual([200, 'posted'])
    await story.settled(due, 'posted')
    expect(await story.posts()).toEqual({ [textOf(now)]: 1, [textOf(due)]: 1 })
    expect(await story.events()).toEqual(['growth.item.posted', 'growth.item.posted'])
  },
)

test.each(['applied502=1', 'drop=1', 'slow=1'])(
  '%s: an article that was applied is found among others of the same beginning, as it was approved',
  async (faults) => {
    await using app = await failing(faults, { deadlineMs: 300, cleanReads: 50, windowMs: 8_000 })
    const story = await newStory(app)
    const head = 'Docks\n\n'.concat(
      'Every delay starts at the dock. '.repeat(500),
      'See https://example.com/docks.\n\n',
    )
    const texts = [`${head}The first\tends\n\n\nso.`, `${head}The second ends otherwise.`]
    const ids: string[] = []
    for (const text of texts) {
      const id = await story.drafted()
      await setItem(app, id, { kind: 'article' })
      expect(
        (await story.send('POST', `items/${id}/approve`, { body: { edited_body: text } })).body
          .item,
      ).toMatchObject({
        title: 'Docks',
        body: text,
      })
      ids.push(id)
    }
    for (const id of ids) await postNow(story, id)
    for (const id of ids) await story.settled(id, 'posted')
    expect(await story.posts()).toEqual(Object.fromEntries(texts.map((text) => [text, 1])))
  },
)

test('a post whose answer never comes is found on the timeline', async () => {
  const points = testFailpoints()
  await using app = await failing('', { deadlineMs: 1_000 }, points)
  const story = await newStory(app)
  points.arm('sandbox.applied', 'hang')
  const id = await story.approved()
  expect((await postNow(story, id)).body.item.status).toBe('posted')
  points.release('sandbox.applied')
  expect(await story.posts()).toEqual({ [textOf(id)]: 1 })
})

test('after a 500 of a network without a promise nothing is sent again; it goes to review once, and only a person settles it', async () => {
  // A network that may be slow promises nothing.
  await using app = await failing('500=0.999999,slow=0.000001')
  const story = await newStory(app)
  const id = await story.scheduled(0)
  expect(await inReview(story, id)).toMatchObject({
    status: 'publish_unconfirmed',
    review: true,
    last_error: '500',
  })
  expect((await postNow(story, id)).body.error.message).toContain('publish_unconfirmed (in review)')
  const reads = async () =>
    (await app.owner`select clean_reads from attempt where item_id = ${id}`)[0]!.clean_reads
  await eventually(reads, (count) => count > times.cleanReads)
  expect(await story.events()).toEqual(['growth.approval.requested'])
  expect((await story.send('POST', `items/${id}/posted`)).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({})
})

test('a scheduled post that gets 429 is tried five times, then fails and can be scheduled again', async () => {
  await using app = await failing('429=1', { backoffMs: [20, 20, 20, 20] })
  const story = await newStory(app)
  // The network asks for two seconds between tries; the test skips these waits.
  const id = await story.scheduled(0)
  const attemptCount = async () =>
    (await app.owner`select 1 from attempt where item_id = ${id}`).length
  for (let tries = 1; tries < 5; tries++) {
    await eventually(attemptCount, (count) => count === tries)
    const item = await story.settled(id, 'approved')
    expect(item).toMatchObject({
      status: 'approved',
      post_at: expect.any(String),
      last_error: 'rate_limited',
    })
    await makeDue(app, id)
    await story.send('POST', 'automation/resume-all')
  }
  expect(await story.settled(id, 'publish_failed')).toMatchObject({
    status: 'publish_failed',
    post_at: null,
    last_error: 'rate_limited',
  })
  expect(await attemptCount()).toBe(5)
  expect(await story.events()).toEqual(['growth.item.failed rate_limited'])
  expect(await story.posts()).toEqual({})
  const again = { body: { post_at: new Date(Date.now() + 3_600_000).toISOString() } }
  expect((await story.send('POST', `items/${id}/schedule`, again)).body.item.status).toBe(
    'approved',
  )
})

test('of two items with the same text, the second waits until the first is certain and then goes out too', async () => {
  await using app = await failing('applied502=1')
  // The doubt lasts until the second has been asked for.
  const asked = Promise.withResolvers<void>()
  unreliable(app).view = (timeline) => asked.promise.then(() => timeline)
  const story = await newStory(app)
  const [first, second] = [await story.approved('Twice.'), await story.approved('Twice.')]
  const pending = postNow(story, first)
  await story.settled(first, 'publish_unconfirmed')
  const refused = await postNow(story, second)
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    'cannot post: another item with the same text is unconfirmed on this account; settle that one first',
  ])
  asked.resolve()
  expect((await pending).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ 'Twice.': 1 })
  expect((await postNow(story, second)).body.item.status).toBe('posted')
  expect(await story.posts()).toEqual({ 'Twice.': 2 })
})

test('under mixed faults each item is posted and on the network once, or neither', async () => {
  const faults = '500=0.15,429=0.15,applied502=0.2,drop=0.15,slow=0.1,lag=40ms;seed=11'
  await using app = await failing(faults, { deadlineMs: 150, lateHitMs: 3_600_000 })
  const story = await newStory(app)
  const ids = await Promise.all(Array.from({ length: 24 }, () => story.scheduled(0)))
  const late = await app.owner<
    { count: number }[]
  >`select count(*)::int as count from sandbox.delayed`
  expect(late).toHaveLength(1)
  const rested = async () => {
    const items = await Promise.all(ids.map((id) => story.item(id)))
    const [delayed] = await app.owner`select count(*)::int as count from sandbox.delayed`
    const posts = await story.posts()
    // Approved without an error is not yet tried.
    const settled = items.every(({ status, review, last_error, id }) =>
      posts[textOf(id)]
        ? status === 'posted'
        : (status === 'publish_unconfirmed' && review) ||
          (status === 'approved' && last_error !== null),
    )
    return { items, posts, rested: settled && delayed!.count === 0 }
  }
  const { items, posts, ...end } = await eventually(rested, (state) => state.rested)
  expect(end.rested).toBe(true)
  for (const { id, status } of items)
    expect([id, posts[textOf(id)] ?? 0]).toEqual([id, status === 'posted' ? 1 : 0])
  expect(new Set(items.map(({ status }) => status)).size).toBeGreaterThan(1)
})
