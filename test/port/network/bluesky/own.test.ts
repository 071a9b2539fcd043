/** Own posts and their numbers. */
import { describe, expect, test } from 'bun:test'
import { MOST_MEASURED, NetworkError } from '#port/network/network'
import { useEach } from '#test/support/use'
import { APP, CID, DID, error, json, never, OTHER, openScripted, page } from './scripted.ts'

const it = useEach(openScripted)

const LIST = 'com.atproto.repo.listRecords'
const POSTS = 'app.bsky.feed.getPosts'
const POST = 'app.bsky.feed.post'
const EVER = new Date(0)
const HOUR_MS = 3_600_000
const NO_APP_VIEW = error(502, 'UpstreamFailure', 'Upstream service unreachable')

const uriOf = (key: string, did = DID) => `at://${did}/${POST}/${key}`
const at = (hour: number): string => new Date(Date.UTC(2026, 10, 20) + hour * HOUR_MS).toISOString()
const stored = (key: string, createdAt: unknown, more: object = {}, did = DID) => ({
  uri: uriOf(key, did),
  cid: CID,
  value: { $type: POST, text: `Post ${key}.`, createdAt, ...more },
})

const failureOf = async (running: Promise<unknown>): Promise<string> => {
  const cause = await running.then(
    (result) => `none: ${JSON.stringify(result)}`,
    (thrown: unknown) => thrown,
  )
  return cause instanceof NetworkError ? cause.reason : String(cause)
}
const timeline = (since = EVER) => it.network.readTimeline(it.account, since, never())

describe('the timeline', () => {
  /** Serves this collection by pages, as a server sorts it: newest keys first. */
  const serving = (records: object[], size: number) => {
    it.script[LIST] = (_, query) => {
      const from = Number(query.get('cursor') ?? 0)
      const some = records.slice(from, from + size)
      return json({ records: some, ...(some.length > 0 ? { cursor: String(from + size) } : {}) })
    }
  }

  test('is by the date of posts, which is not the order of keys, over all pages', async () => {
    serving([stored('3k3', at(1)), stored('3k2', at(9)), stored('3k1', at(5))], 2)
    const { posts, complete } = await timeline()
    expect(posts.map(({ externalId }) => externalId)).toEqual(
      ['3k2', '3k1', '3k3'].map((key) => uriOf(key)),
    )
    expect(complete).toBe(true)
    expect(posts[0]).toEqual({
      externalId: uriOf('3k2'),
      text: 'Post 3k2.',
      truncated: false,
      createdAt: new Date(at(9)),
      url: `${APP}/profile/alice.example.com/post/3k2`,
    })
    expect(it.asked()).toEqual([LIST, LIST, LIST])
    expect((await timeline(new Date(at(5)))).posts).toEqual(posts.slice(0, 2))
  })

  test('names what a post answers and quotes, also beside pictures', async () => {
    const theirs = uriOf('3kk', OTHER)
    serving(
      [
        stored('3k3', at(3), { reply: { parent: { uri: theirs }, root: {} } }),
        stored('3k2', at(2), { embed: { record: { uri: theirs } } }),
        stored('3k1', at(1), { embed: { record: { record: { uri: theirs } }, media: {} } }),
      ],
      100,
    )
    const { posts } = await timeline()
    expect(posts).toMatchObject([{ inReplyTo: theirs }, { quoted: theirs }, { quoted: theirs }])
    expect(posts[0]).not.toHaveProperty('quoted')
  })

  test('is not complete if there are more pages than are read, or records without a date', async () => {
    it.script[LIST] = json({ records: [stored('3k1', at(1))], cursor: 'again' })
    expect(await timeline()).toMatchObject({ complete: false })
    expect(it.asked()).toHaveLength(20)
    serving([stored('3k2', at(2)), stored('3k1', 'yesterday')], 100)
    expect(await timeline()).toMatchObject({
      posts: [{ externalId: uriOf('3k2') }],
      complete: false,
    })
    serving([], 100)
    expect(await timeline()).toEqual({ posts: [], complete: true })
  })

  test.each([
    ['a page of the web', page(200), 'bad_answer'],
    ['no list', json({ records: {} }), 'bad_answer'],
    ['an error', error(500, 'InternalServerError'), 'unreachable'],
    ['a pause', { status: 429 }, 'rate_limited'],
    ['no such repository', error(400, 'InvalidRequest'), 'bad_answer'],
  ])('cannot be read if %s comes', async (_, answer, reason) => {
    it.script[LIST] = answer
    expect(await failureOf(timeline())).toBe(reason)
  })
})

describe('numbers', () => {
  const metrics = (ids: string[], signal = never()) =>
    it.network.readMetrics(it.account, ids, signal)

  test('are those of the AppView, as many posts at a time as an address holds, of own posts only', async () => {
    it.script[POSTS] = (_, query) =>
      json({
        posts: [...query.getAll('uris'), uriOf('3kk', OTHER)].map((uri) => ({
          uri,
          likeCount: 5,
          repostCount: 4,
          replyCount: 3,
          quoteCount: uri.endsWith('0') ? -1 : 2,
        })),
      })
    const ids = Array.from({ length: 60 }, (_, index) =>
      uriOf(`3k${String(index).padStart(11, '0')}`),
    )
    const found = await metrics([
      ...ids,
      uriOf('3k1', OTHER),
      'no such post',
      `at://${DID}/app.bsky.feed.like/3k1`,
    ])
    expect(found.map(({ externalId }) => externalId)).toEqual(ids)
    expect(found.slice(0, 2)).toEqual([
      {
        externalId: ids[0]!,
        impressions: null,
        clicks: null,
        likes: 5,
        reposts: 4,
        replies: 3,
        quotes: 0,
      },
      {
        externalId: ids[1]!,
        impressions: null,
        clicks: null,
        likes: 5,
        reposts: 4,
        replies: 3,
        quotes: 2,
      },
    ])
    const asked = it
      .requests(POSTS)
      .map(({ url }) => new URL(url, 'http://x').searchParams.getAll('uris').length)
    expect(asked).toEqual([18, 18, 18, 6])
    expect(it.requests(POSTS)[0]!.headers.authorization).toBe('Bearer the.access.token')
  })

  test('of no own posts are not asked for, and of too many neither', async () => {
    expect(await metrics([])).toEqual([])
    expect(await metrics(['17'])).toEqual([])
    expect(await failureOf(metrics(Array.from({ length: MOST_MEASURED + 1 }, () => '1')))).toBe(
      'bad_answer',
    )
    expect(await failureOf(metrics(['1'], AbortSignal.abort()))).toBe('unreachable')
    expect(it.asked()).toEqual([])
  })

  test.each([
    ['502', NO_APP_VIEW],
    ['a page with 502', page(502)],
    ['401', error(401, 'AuthMissing')],
    ['an unknown method', error(501, 'MethodNotImplemented')],
  ])('cannot be had without an AppView (%s)', async (_, answer) => {
    it.script[POSTS] = answer
    const cause = await metrics([uriOf('3k1')]).catch((thrown: NetworkError) => thrown)
    expect(cause).toMatchObject({
      reason: 'not_served',
      message: expect.stringContaining('no AppView'),
    })
  })

  test.each([
    [
      'an ended session',
      error(400, 'ExpiredToken'),
      { reason: 'unreachable', isSessionOver: true },
    ],
    ['a closed account', error(401, 'AccountDeactivated'), { reason: 'disconnected' }],
    [
      'a pause',
      { status: 429, headers: { 'retry-after': '3' } },
      { reason: 'rate_limited', retryAfterMs: 3_000 },
    ],
    ['no list', json({}), { reason: 'bad_answer' }],
  ])('cannot be had after %s', async (_, answer, expected) => {
    it.script[POSTS] = answer
    expect(await metrics([uriOf('3k1')]).catch((thrown: NetworkError) => thrown)).toMatchObject(
      expected,
    )
  })
})
