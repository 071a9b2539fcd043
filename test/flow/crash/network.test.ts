/**
 * P2, P3 and P7: behaviour of the network that hides what happened. Nothing is decided by an
 * incomplete view.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import { AppError } from '#kernel/errors'
import { NetworkError, type Timeline } from '#port/network/network'
import { eventually, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { newStory, type Story, textOf } from '#test/support/growth/story'
import {
  lostAnswer,
  lostRequest,
  type Unreliable,
  unreliable,
} from '#test/support/growth/unreliable'
import { use, useApp } from '#test/support/use'

const times: SendTimes = { ...sendTimes, settleMs: 20, windowMs: 100 }

let network: Unreliable
const db = use(freshDb)
const app = useApp(() => ({ database: db.options, overrides: { times } }))
beforeAll(() => {
  network = unreliable(app)
})

const postNow = (story: Story, id: string) =>
  story.send('POST', `items/${id}/post-now`, { headers: { 'idempotency-key': 'post it' } })
/** The post is made, its answer lost, and the item in doubt. */
const doubtful = async (story: Story, text?: string): Promise<string> => {
  const id = await story.approved(text)
  network.answers.set((await story.item(id)).body, lostAnswer)
  void postNow(story, id)
  await story.settled(id, 'publish_unconfirmed', 'posted')
  return id
}
const sends = ({ sent }: Unreliable, text: string) => sent.filter((one) => one === text).length

test('P2, the network applies a post after our deadline: it is a late hit, even from review, and never sent again', async () => {
  await using slow = await testApp({
    database: db.options,
    env: { SANDBOX_FAULTS: 'slow=1' },
    overrides: { times: { ...times, deadlineMs: 100 }, replyWithinMs: 100 },
  })
  const wire = unreliable(slow)
  // On a busy machine, a read might come only after the network has applied the posts.
  wire.view = (timeline) => ({ ...timeline, posts: [] })
  const story = await newStory(slow)
  const ids = [await story.scheduled(0), await story.approved()]
  expect((await postNow(story, ids[1]!)).status).toBe(202)
  for (const id of ids) {
    const given = await eventually(
      () => story.item(id),
      ({ review, status }) => review || status === 'posted',
    )
    expect(given).toMatchObject({ status: 'publish_unconfirmed', review: true })
  }
  wire.view = (timeline) => timeline
  for (const id of ids) {
    expect(await story.settled(id, 'posted')).toMatchObject({
      status: 'posted',
      review: false,
      last_error: null,
    })
    expect(sends(wire, textOf(id))).toBe(1)
  }
  expect((await postNow(story, ids[1]!)).headers.get('idempotency-replayed')).toBe('true')
  expect(await story.posts()).toEqual({ [textOf(ids[0]!)]: 1, [textOf(ids[1]!)]: 1 })
})

const refuse = (cause: Error) => () => {
  throw cause
}
const incomplete: [string, (timeline: Timeline) => Timeline][] = [
  [
    'is paged and not read to its end',
    ({ posts }) => ({ posts: posts.slice(posts.length), complete: false }),
  ],
  ['is paged, whatever the page shows', (timeline) => ({ ...timeline, complete: false })],
  ['is refused by the rate limit', refuse(new NetworkError('rate_limited', '429', 10))],
  ['may not be read, the read budget being spent', refuse(new AppError('x_read_budget_exhausted'))],
  ['cannot be reached', refuse(new NetworkError('unreachable', 'no answer'))],
]

describe('P3, the timeline', () => {
  test.each(incomplete)(
    '%s: the item stays in doubt, and the first complete read decides',
    async (_, view) => {
      const story = await newStory(app)
      let reads = 0
      network.view = (timeline, { externalId }) => {
        if (externalId !== story.account) return timeline
        reads++
        return view(timeline)
      }
      const id = await doubtful(story)
      await eventually(
        () => reads,
        (count) => count > 2 * times.cleanReads,
      )
      expect(await story.item(id)).toMatchObject({
        status: 'publish_unconfirmed',
        review: false,
        last_error: 'timeout',
      })
      const attempt = async () =>
        (await app.owner`select state, clean_reads from attempt where item_id = ${id}`)[0]
      expect(await attempt()).toEqual({ state: 'doubt', clean_reads: 0 })
      expect(await story.events()).toEqual([])
      network.view = (timeline) => timeline
      expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted' })
      expect([await story.posts(), sends(network, textOf(id))]).toEqual([{ [textOf(id)]: 1 }, 1])
    },
  )

  test.each([
    ['within the window: nobody is asked', times.cleanReads - 1, ['growth.item.posted']],
    [
      'for longer: a person is asked, and a late hit still settles it',
      times.cleanReads,
      ['growth.approval.requested', 'growth.item.posted'],
    ],
  ])('lags %s', async (_, blind, events) => {
    const story = await newStory(app)
    let reads = 0
    // Timelines may be read for items of other tests at the same time.
    network.view = (timeline, { externalId }) =>
      externalId === story.account && reads++ < blind ? { ...timeline, posts: [] } : timeline
    const id = await doubtful(story)
    expect(await story.settled(id, 'posted')).toMatchObject({ status: 'posted', review: false })
    network.view = (timeline) => timeline
    expect(await story.events()).toEqual(events)
    expect([await story.posts(), sends(network, textOf(id))]).toEqual([{ [textOf(id)]: 1 }, 1])
  })
})

const SENT =
  'Caf\u00e9 notes: eleven of fourteen delays started at the dock. https://example.com/a/long/path Read it.'
const LONG = `${SENT.replace(' Read it.', '')} And then we drove the vans ourselves, to count them.`

const rewrites: [how: string, text: string, rewrite: (text: string) => string][] = [
  [
    'shortens links',
    SENT,
    (text) => text.replace('https://example.com/a/long/path', 'https://t.co/aB3dE5fG'),
  ],
  ['decomposes letters', SENT, (text) => text.normalize('NFD')],
  ['adds a trailing space', SENT, (text) => `${text} `],
  ['changes white space', 'Two lines,\n\nand a gap.', (text) => text.replaceAll('\n\n', ' \n ')],
  [
    'does all of it',
    SENT,
    (text) =>
      ` ${text.normalize('NFD').replace('https://example.com/a/long/path', 'https://t.co/x')}\n`,
  ],
]
const cut = (text: string) => ({ text: `${text.slice(0, 58)}…`, truncated: true })

describe('P7, the network', () => {
  /** A workspace for each case, for the texts are alike. */
  const found = async (text: string) => {
    const story = await newStory(app)
    const id = await doubtful(story, text)
    const item = await story.settled(id, 'posted')
    expect(item).toMatchObject({ status: 'posted', body: text })
    const [post] = await app.owner`select id from sandbox.posts where account_id = ${story.account}`
    expect(item.external_id).toBe(post!.id)
    expect(Object.values(await story.posts())).toEqual([1])
  }

  test.each(rewrites)('%s: the post is recognised', async (_, text, rewrite) => {
    network.rewrite = rewrite
    expect(rewrite(text)).not.toBe(text)
    await found(text).finally(() => {
      network.rewrite = (sent) => sent
    })
  })

  test('truncates the text: the post is recognised by its beginning', async () => {
    network.view = (timeline) => ({
      ...timeline,
      posts: timeline.posts.map((post) => ({ ...post, ...cut(post.text) })),
    })
    await found(LONG).finally(() => {
      network.view = (timeline) => timeline
    })
  })

  test.each([
    ['another text', `${SENT} Or do not.`, 0],
    ['the text, from before the send, though nobody asked for that', SENT, 60_000],
  ])('shows %s, which is not taken for the post', async (_, text, age) => {
    const story = await newStory(app)
    const other = {
      externalId: 'other',
      text,
      truncated: false,
      createdAt: new Date(Date.now() - age),
      url: null,
    }
    network.view = (timeline, { externalId }) => ({
      ...timeline,
      posts: externalId === story.account ? [other] : timeline.posts,
    })
    const id = await story.approved(SENT)
    network.answers.set(SENT, lostRequest)
    void postNow(story, id)
    const given = await eventually(
      () => story.item(id),
      ({ review, status }) => review || status === 'posted',
    )
    network.view = (timeline) => timeline
    expect(given).toMatchObject({ status: 'publish_unconfirmed', review: true })
  })
})
