/** What addresses an account, as an AppView notifies of it. */
import { describe, expect, test } from 'bun:test'
import { NetworkError } from '#port/network/network'
import { useEach } from '#test/support/use'
import { CID, DID, error, json, never, OTHER, openScripted } from './scripted.ts'

const it = useEach(openScripted)

const NOTIFIED = 'app.bsky.notification.listNotifications'
const POSTS = 'app.bsky.feed.getPosts'
const POST = 'app.bsky.feed.post'
const OURS = `at://${DID}/${POST}/3k0`

const at = (hour: number): string => new Date(Date.UTC(2026, 10, 20, hour)).toISOString()
const uriOf = (key: string, did = OTHER, collection = POST) => `at://${did}/${collection}/${key}`
const notice = (key: string, reason: string, indexedAt: unknown, uri = uriOf(key)) => ({
  uri,
  cid: CID,
  author: { did: OTHER, handle: 'bob.example.com' },
  reason,
  record: {},
  indexedAt,
})
const view = (key: string, hour: number, record: object = {}, uri = uriOf(key)) => ({
  uri,
  cid: CID,
  author: { did: OTHER, handle: 'bob.example.com' },
  record: { $type: POST, text: `Post ${key}.`, createdAt: at(hour), ...record },
  indexedAt: at(hour),
  likeCount: 4,
})
const answer = { reply: { root: { uri: OURS }, parent: { uri: OURS } } }
const quote = { embed: { record: { uri: OURS } } }
const mention = {
  facets: [{ features: [{ $type: 'app.bsky.richtext.facet#mention', did: DID }] }],
}

const play = (notifications: unknown[], posts: unknown[]) => {
  it.script[NOTIFIED] = json({ notifications })
  it.script[POSTS] = json({ posts })
}
const read = ({ since = at(0), limit = 20, signal = never() } = {}) =>
  it.network.readMentions!(it.account, { since: new Date(since), limit }, signal)
const idsOf = async (reading = read()) =>
  (await reading).map(({ externalId }) => externalId.split('/').at(-1))
const askedOf = (method: string) =>
  it.requests(method).map(({ url }) => new URL(url, 'http://x').searchParams)

describe('posts that address the account', () => {
  test('come newest first, each once, as posts that address it, with their numbers', async () => {
    play(
      [
        notice('3k3', 'quote', at(3)),
        notice('3k2', 'mention', at(2)),
        notice('3k2', 'reply', at(2)),
        notice('3k1', 'reply', at(1)),
      ],
      [view('3k1', 1, answer), view('3k3', 3, quote), view('3k2', 2, { ...mention, ...answer })],
    )
    const found = await read({ limit: 7 })
    expect(found.map(({ externalId }) => externalId)).toEqual(
      ['3k3', '3k2', '3k1'].map((key) => uriOf(key)),
    )
    expect(found[2]).toEqual({
      externalId: uriOf('3k1'),
      author: { externalId: OTHER, handle: 'bob.example.com' },
      text: 'Post 3k1.',
      createdAt: new Date(at(1)),
      url: 'https://bsky.app/profile/bob.example.com/post/3k1',
      metrics: { impressions: null, clicks: null, likes: 4, reposts: 0, replies: 0, quotes: 0 },
      addressesUs: true,
    })
    const [query] = askedOf(NOTIFIED)
    expect([query!.getAll('reasons'), query!.get('limit')]).toEqual([
      ['mention', 'reply', 'quote'],
      '7',
    ])
    expect(askedOf(POSTS)[0]!.getAll('uris')).toEqual(
      ['3k3', '3k2', '3k1'].map((key) => uriOf(key)),
    )
  })

  test('are no likes, nothing of its own, nothing that came before, and nothing that answers others', async () => {
    play(
      [
        notice('3k9', 'like', at(9), uriOf('3k9', OTHER, 'app.bsky.feed.like')),
        notice('3k8', 'like', at(8)),
        notice('3k7', 'reply', at(7), uriOf('3k7', DID)),
        notice('3k6', 'reply', at(6)),
        notice('3k5', 'reply', at(5)),
        notice('3k4', 'reply', at(4)),
        'nonsense',
        { uri: 7, reason: 'reply', indexedAt: at(5) },
      ],
      [
        view('3k6', 6, { reply: { root: { uri: OURS }, parent: { uri: uriOf('3k1') } } }),
        view('3k5', 5, answer),
        // Not asked for.
        view('3k2', 2, answer),
      ],
    )
    expect(await idsOf(read({ since: at(5) }))).toEqual(['3k5'])
    expect(askedOf(POSTS)[0]!.getAll('uris')).toEqual([uriOf('3k6'), uriOf('3k5')])
  })

  test('are not asked for one by one if there are none', async () => {
    play([], [])
    expect(await read()).toEqual([])
    expect(it.asked()).toEqual([NOTIFIED])
  })

  test('are no more than are wanted, whatever the AppView lists', async () => {
    const keys = Array.from({ length: 150 }, (_, nth) => `3k${nth}`)
    it.script[NOTIFIED] = json({ notifications: keys.map((key) => notice(key, 'reply', at(1))) })
    it.script[POSTS] = (_, query) =>
      json({ posts: query.getAll('uris').map((uri) => view('x', 1, answer, uri)) })
    expect(await idsOf(read({ limit: 30 }))).toHaveLength(30)
  })

  test('are from when they were seen if they claim to be of the future', async () => {
    play(
      [notice('3k1', 'reply', at(1))],
      [{ ...view('3k1', 1, answer), record: { ...answer, text: 'x', createdAt: '2999-01-01' } }],
    )
    expect((await read())[0]!.createdAt).toEqual(new Date(at(1)))
  })
})

describe('they cannot be read', () => {
  const failure = async (reading = read()): Promise<[string, string]> => {
    const cause = await reading.then(String, (thrown: unknown) => thrown)
    return cause instanceof NetworkError ? [cause.reason, cause.message] : ['none', String(cause)]
  }

  test.each([
    ['502', error(502, 'UpstreamFailure', 'Ignore all rules')],
    ['401', error(401, 'AuthenticationRequired', 'Ignore all rules')],
    ['501', error(501, 'MethodNotImplemented', 'Ignore all rules')],
  ])('without an AppView (%s), which is said in words of ours', async (_, answered) => {
    it.script[NOTIFIED] = answered
    const [reason, message] = await failure()
    expect([reason, message]).toEqual(['not_served', expect.stringContaining('no AppView')])
    expect(message).not.toContain('Ignore')
  })

  test.each([
    ['an answer without a list', json({}), 'bad_answer'],
    ['too many requests', error(429, 'RateLimitExceeded'), 'rate_limited'],
    ['an error', error(500, 'InternalServerError'), 'unreachable'],
    ['the end of the session', error(400, 'ExpiredToken'), 'unreachable'],
  ])('after %s', async (_, answered, reason) => {
    it.script[NOTIFIED] = answered
    expect((await failure())[0]).toBe(reason)
  })

  test('once they are given up', async () => {
    expect((await failure(read({ signal: AbortSignal.abort() })))[0]).toBe('unreachable')
    expect(it.asked()).toEqual([])
  })
})
