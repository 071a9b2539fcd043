/** The posts of others, with an AppView and without one. */
import { describe, expect, test } from 'bun:test'
import { NetworkError } from '#port/network/network'
import { useEach } from '#test/support/use'
import {
  APP,
  CID,
  DID,
  documentOf,
  error,
  json,
  never,
  OTHER,
  openScripted,
  page,
} from './scripted.ts'

const it = useEach(openScripted)

const LIST = 'com.atproto.repo.listRecords'
const GET = 'com.atproto.repo.getRecord'
const POSTS = 'app.bsky.feed.getPosts'
const FEED = 'app.bsky.feed.getAuthorFeed'
const RESOLVE = 'com.atproto.identity.resolveHandle'
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
const viewed = (key: string, createdAt: string, more: object = {}, record: object = {}) => ({
  uri: uriOf(key, OTHER),
  cid: CID,
  author: { did: OTHER, handle: 'bob.example.com' },
  record: { $type: POST, text: `Post ${key}.`, createdAt, ...record },
  indexedAt: at(99),
  likeCount: 1,
  ...more,
})

describe("somebody's posts", () => {
  const read = (handle: string, { since = EVER, limit = 20 } = {}) =>
    it.network.readHandle(it.account, { handle, since, limit }, never())

  test('come newest first, without reposts, none before a time and no more than are wanted', async () => {
    it.script[FEED] = json({
      feed: [
        { post: viewed('3k1', at(1)), reason: { $type: 'app.bsky.feed.defs#reasonRepost' } },
        { post: viewed('3k2', at(2)) },
        { post: viewed('3k4', at(4)) },
        { post: viewed('3k3', at(3)) },
        { post: { uri: 'nonsense' } },
        'nonsense',
      ],
    })
    const all = await read('@BOB.example.com')
    expect(all?.map(({ externalId }) => externalId)).toEqual(
      ['3k4', '3k3', '3k2'].map((key) => uriOf(key, OTHER)),
    )
    expect(all?.[0]).toEqual({
      externalId: uriOf('3k4', OTHER),
      author: { externalId: OTHER, handle: 'bob.example.com' },
      text: 'Post 3k4.',
      createdAt: new Date(at(4)),
      url: `${APP}/profile/bob.example.com/post/3k4`,
      metrics: { impressions: null, clicks: null, likes: 1, reposts: 0, replies: 0, quotes: 0 },
      addressesUs: false,
    })
    expect(await read('bob.example.com', { limit: 2 })).toEqual(all!.slice(0, 2))
    expect(await read('bob.example.com', { since: new Date(at(3)) })).toEqual(all!.slice(0, 2))
    const query = new URL(it.requests(FEED)[0]!.url, 'http://x').searchParams
    expect(Object.fromEntries(query)).toMatchObject({ actor: 'bob.example.com', limit: '40' })
  })

  test('are none if one has blocked the other, and nobody has a handle that leads nowhere', async () => {
    it.script[FEED] = error(400, 'BlockedActor')
    expect(await read('bob.example.com')).toEqual([])
    for (const answer of [
      error(400, 'InvalidRequest', 'Profile not found'),
      error(400, 'AccountTakedown'),
    ]) {
      it.script[FEED] = answer
      expect(await read('bob.example.com')).toBeNull()
    }
    it.asked()
    expect(await read('no handle')).toBeNull()
    expect(it.asked()).toEqual([])
  })

  test('cannot be read after an error, which is not taken for nobody', async () => {
    for (const [answer, reason] of [
      [error(400, 'InvalidRequest', 'limit is wrong'), 'bad_answer'],
      [error(401, 'AccountTakedown'), 'disconnected'],
      [error(500, 'InternalServerError'), 'unreachable'],
      [json({}), 'bad_answer'],
    ] as const) {
      it.script[FEED] = answer
      expect(await failureOf(read('bob.example.com'))).toBe(reason)
    }
  })

  describe('without an AppView', () => {
    const living = ({ handle = 'bob.example.com', did = OTHER } = {}) => {
      it.script[FEED] = NO_APP_VIEW
      it.script[RESOLVE] = json({ did })
      it.script[`/plc/${OTHER}`] = json(documentOf(OTHER, { handle, pds: it.at }))
      it.script[LIST] = json({
        records: [stored('3k1', at(1), {}, OTHER), stored('3k2', at(2), {}, OTHER)],
      })
    }

    test('come from their own server, without numbers', async () => {
      living()
      expect(await read('bob.example.com')).toMatchObject([
        {
          externalId: uriOf('3k2', OTHER),
          author: { externalId: OTHER, handle: 'bob.example.com' },
          metrics: { likes: 0, impressions: null },
        },
        { externalId: uriOf('3k1', OTHER) },
      ])
      expect(it.asked()).toEqual([FEED, RESOLVE, `/plc/${OTHER}`, LIST])
    })

    test('are of nobody if the DID has another handle, or is gone', async () => {
      living({ handle: 'eve.example.com' })
      expect(await read('bob.example.com')).toBeNull()
      living()
      it.script[`/plc/${OTHER}`] = { status: 404 }
      expect(await read('bob.example.com')).toBeNull()
    })

    test('are of nobody if the service knows no such handle and its host cannot be asked', async () => {
      living()
      it.script[RESOLVE] = error(400, 'HandleNotFound')
      expect(await read('bob.test')).toBeNull()
    })

    test('cannot be read while nobody tells whose the handle is', async () => {
      living()
      it.script[RESOLVE] = page(500)
      expect(await failureOf(read('bob.test'))).toBe('unreachable')
      it.script[RESOLVE] = json({ did: 'bob.test' })
      expect(await failureOf(read('bob.test'))).toBe('bad_answer')
    })
  })
})

describe('a post', () => {
  const read = (ref: string, signal = never()) => it.network.readPost(it.account, ref, signal)
  const uri = uriOf('3k1', OTHER)
  const viewing = (more: object = {}, record: object = {}) => {
    it.script[POSTS] = json({ posts: [viewed('3k1', at(1), more, record)] })
  }

  test('is found by its id and by its page, with a DID or a handle', async () => {
    viewing()
    it.script[RESOLVE] = json({ did: OTHER })
    it.script[`/plc/${OTHER}`] = json(documentOf(OTHER, { handle: 'bob.example.com', pds: it.at }))
    for (const ref of [
      uri,
      ` ${uri} `,
      `${APP}/profile/${OTHER}/post/3k1`,
      `${APP}/profile/Bob.example.com/post/3k1?ref=a#b`,
      `at://bob.example.com/${POST}/3k1`,
    ])
      expect(await read(ref)).toMatchObject({ externalId: uri, text: 'Post 3k1.' })
    expect(it.requests(RESOLVE)).toHaveLength(2)
  })

  test.each([
    '17',
    'no post at all',
    'https://example.com/profile/bob.example.com/post/3k1',
    `at://${OTHER}/app.bsky.feed.like/3k1`,
    `at://${OTHER}/${POST}/..`,
    `${APP}/profile/bob/post/3k1`,
    `${APP}/profile/%/post/3k1`,
  ])('is not looked for by %j', async (ref) => {
    expect(await read(ref)).toBeNull()
    expect(it.asked()).toEqual([])
    expect(await failureOf(read(ref, AbortSignal.abort()))).toBe('unreachable')
  })

  test('that is gone, or of somebody who is, is none', async () => {
    it.script[POSTS] = json({ posts: [] })
    expect(await read(uri)).toBeNull()
    it.script[POSTS] = NO_APP_VIEW
    it.script[`/plc/${OTHER}`] = json(documentOf(OTHER, { pds: it.at }))
    it.script[GET] = error(400, 'RecordNotFound')
    expect(await read(uri)).toBeNull()
    it.script[`/plc/${OTHER}`] = { status: 404 }
    expect(await read(uri)).toBeNull()
  })

  test("comes from its author's server without an AppView", async () => {
    it.script[POSTS] = NO_APP_VIEW
    it.script[`/plc/${OTHER}`] = json(documentOf(OTHER, { handle: 'bob.example.com', pds: it.at }))
    it.script[GET] = json(stored('3k1', at(1), {}, OTHER))
    const found = await read(uri)
    expect(found).toMatchObject({ externalId: uri, author: { handle: 'bob.example.com' } })
    expect(found).not.toHaveProperty('done')
  })

  test('says what the account has done with it, as far as the AppView tells', async () => {
    viewing()
    expect(await read(uri)).not.toHaveProperty('done')
    viewing({ viewer: {} })
    expect((await read(uri))?.done).toEqual([])
    viewing({ viewer: { like: 'at://x', repost: 'at://y' } })
    expect((await read(uri))?.done).toEqual(['like', 'repost'])
  })

  test.each<[string, object, boolean]>([
    [
      'a mention',
      { facets: [{ features: [{ $type: 'app.bsky.richtext.facet#mention', did: DID }] }] },
      true,
    ],
    [
      'a mention of another',
      { facets: [{ features: [{ $type: 'app.bsky.richtext.facet#mention', did: OTHER }] }] },
      false,
    ],
    [
      'a link that looks like one',
      { facets: [{ features: [{ $type: 'app.bsky.richtext.facet#link', did: DID }] }] },
      false,
    ],
    ['a quote', { embed: { record: { uri: uriOf('3k9') } } }, true],
    ['a quote beside pictures', { embed: { record: { record: { uri: uriOf('3k9') } } } }, true],
    ['a quote of another', { embed: { record: { uri: uriOf('3k9', OTHER) } } }, false],
    ['an answer', { reply: { parent: { uri: uriOf('3k9') } } }, false],
    ['its handle in the text', { text: 'Well, @alice.example.com?' }, true],
    ['a longer handle in the text', { text: 'Well, @alice.example.com.au?' }, false],
    [
      'an answer to an answer',
      { reply: { root: { uri: uriOf('3k9') }, parent: { uri: uriOf('3k9', OTHER) } } },
      false,
    ],
    ['nonsense', { facets: 7, embed: [], reply: 'x' }, false],
  ])('with %s addresses the account, or does not', async (_, record, addresses) => {
    viewing({}, record)
    expect((await read(uri))?.addressesUs).toBe(addresses)
  })

  test('is cut, and its author is the DID if the handle does not lead back', async () => {
    viewing(
      { author: { did: OTHER, handle: 'handle.invalid' } },
      { text: 'x\0'.repeat(20_000), createdAt: 'x' },
    )
    const found = await read(uri)
    expect(found).toMatchObject({ author: { handle: OTHER }, createdAt: new Date(at(99)) })
    expect(found?.text).toBe('x'.repeat(10_000))
  })
})

test('an id is known without asking if the address has a DID', () => {
  const uri = uriOf('3k1', OTHER)
  const { postIdIn } = it.network
  expect([uri, `${APP}/profile/${OTHER}/post/3k1/`].map(postIdIn)).toEqual([uri, uri])
  for (const ref of [
    `${APP}/profile/bob.example.com/post/3k1`,
    `at://bob.example.com/${POST}/3k1`,
    '17',
    '',
  ])
    expect(postIdIn(ref)).toBeUndefined()
})
