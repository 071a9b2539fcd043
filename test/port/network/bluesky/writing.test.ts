/** Posts, replies, quotes, reposts and likes as they are sent, and what answers come to. */
import { describe, expect, test } from 'bun:test'
import { nthKey } from '#port/network/bluesky/keys'
import { useEach } from '#test/support/use'
import {
  APP,
  AT,
  CID,
  DID,
  error,
  json,
  never,
  OTHER,
  openScripted,
  page,
  posting,
} from './scripted.ts'

const it = useEach(openScripted)

const PUT = 'com.atproto.repo.putRecord'
const GET = 'com.atproto.repo.getRecord'
const POST = 'app.bsky.feed.post'

interface Put {
  repo: string
  collection: string
  rkey: string
  swapRecord: null
  record: Record<string, unknown>
}

const puts = (): Put[] => it.requests(PUT).map(({ body }) => JSON.parse(body) as Put)
const written = (body: string) => {
  const { repo, collection, rkey } = JSON.parse(body) as Put
  return json({ uri: `at://${repo}/${collection}/${rkey}`, cid: CID })
}
const taking = () => {
  it.script[PUT] = ({ body }) => written(body)
}
/** What stands under each key. */
const standing = (records: Record<string, object>) => {
  it.script[PUT] = ({ body }) =>
    (JSON.parse(body) as Put).rkey in records ? error(400, 'InvalidSwap') : written(body)
  it.script[GET] = (_, query) => {
    const value = records[query.get('rkey')!]
    const uri = `at://${query.get('repo')}/${query.get('collection')}/${query.get('rkey')}`
    return value ? json({ uri, cid: CID, value }) : error(400, 'RecordNotFound')
  }
}
const publish = (text: string, more = {}) => it.network.publish(posting(it, text, more), never())
const urlOf = (key: string) => `${APP}/profile/alice.example.com/post/${key}`

describe('a post', () => {
  test('is put once under its key, in place of nothing, with the date of its first try', async () => {
    taking()
    const request = posting(it, 'Hello from the other side.')
    expect(await it.network.publish(request, never())).toEqual({
      kind: 'posted',
      externalId: `at://${DID}/${POST}/${request.key}`,
      url: urlOf(request.key),
    })
    expect(puts()).toEqual([
      {
        repo: DID,
        collection: POST,
        rkey: request.key,
        swapRecord: null,
        record: { $type: POST, text: request.text, createdAt: AT.toISOString() },
      },
    ])
    expect(it.requests(PUT)[0]!.headers).toMatchObject({
      authorization: 'Bearer the.access.token',
      'content-type': 'application/json',
    })
    expect(it.asked()).toEqual([PUT])
  })

  test('names its links and tags by their bytes', async () => {
    taking()
    await publish('👩‍👩‍👧‍👦 read https://example.com/a_(b)?c=d, example.org #tëst, #2 #️⃣ and #ok!')
    const [{ record }] = puts() as [Put]
    const bytes = Buffer.from(String(record.text))
    const facets = record.facets as {
      index: { byteStart: number; byteEnd: number }
      features: object[]
    }[]
    expect(
      facets.map(({ index, features }) => [
        bytes.subarray(index.byteStart, index.byteEnd).toString(),
        ...features.map((feature) => Object.values(feature)[1]),
      ]),
    ).toEqual([
      ['https://example.com/a_(b)?c=d', 'https://example.com/a_(b)?c=d'],
      ['example.org', 'https://example.org'],
      ['#tëst', 'tëst'],
      ['#ok', 'ok'],
    ])
  })

  test.each([
    ['', 'empty'],
    [' \n ', 'empty'],
    ['a\0b', 'NUL'],
    ['é'.repeat(301), '301'],
    ['👩‍👩‍👧‍👦'.repeat(121), '303'],
  ])('of the text %j is refused before anything is asked', async (text, words) => {
    const result = await publish(text)
    expect(result).toMatchObject({ kind: 'refused', reason: expect.stringContaining(words) })
    expect(it.asked()).toEqual([])
  })

  test('whose text ends in half a character is the same on every try', async () => {
    const request = posting(it, 'Half \ud83d')
    standing({ [request.key]: { text: 'Half \ufffd' } })
    expect(await it.network.publish(request, never())).toMatchObject({ kind: 'posted' })
    expect(puts()[0]!.record.text).toBe('Half \ufffd')
  })

  test('that stands there already, with another date, was posted', async () => {
    const request = posting(it, 'Once.')
    standing({ [request.key]: { text: 'Once.', createdAt: new Date(0).toISOString() } })
    expect(await it.network.publish(request, never())).toMatchObject({
      kind: 'posted',
      externalId: `at://${DID}/${POST}/${request.key}`,
    })
    expect(it.asked()).toEqual([PUT, GET])
  })

  test('goes under the next key where another text stands, three times at most', async () => {
    const request = posting(it, 'Mine.')
    const [first, second, third] = [0, 1, 2].map((n) => nthKey(request.key, n)) as [
      string,
      string,
      string,
    ]
    const theirs = { text: "Somebody else's." }
    standing({ [first]: theirs, [second]: theirs })
    expect(await it.network.publish(request, never())).toMatchObject({
      kind: 'posted',
      externalId: `at://${DID}/${POST}/${third}`,
      url: urlOf(third),
    })
    expect(puts().map(({ rkey }) => rkey)).toEqual([first, second, third])
    it.asked()
    standing({ [first]: theirs, [second]: theirs, [third]: theirs })
    expect(await it.network.publish(request, never())).toMatchObject({ kind: 'refused' })
    expect(it.asked()).toEqual([PUT, GET, PUT, GET, PUT, GET])
  })

  test('is in doubt if nobody tells what stands under its key', async () => {
    it.script[PUT] = error(400, 'InvalidSwap')
    for (const answer of [
      error(400, 'RecordNotFound'),
      error(500, 'InternalServerError'),
      page(200),
    ]) {
      it.script[GET] = answer
      expect(await publish('Whose?')).toMatchObject({ kind: 'unknown', cause: 'unclear_answer' })
    }
    expect(it.requests(PUT)).toHaveLength(3)
  })

  test('without a session goes nowhere', async () => {
    expect(await publish('x', { account: { ...it.account, credentials: null } })).toMatchObject({
      kind: 'disconnected',
    })
    for (const account of [
      { ...it.account, credentials: 'nonsense' },
      { ...it.account, externalId: OTHER },
    ])
      expect(await publish('x', { account })).toMatchObject({
        kind: 'not_applied',
        reason: 'unreachable',
      })
    expect(it.asked()).toEqual([])
  })

  test('without a key is a mistake of ours', async () => {
    const request = { ...posting(it, 'x'), key: null }
    await expect(it.network.publish(request, never())).rejects.toThrow('needs a key')
    expect(it.asked()).toEqual([])
  })
})

describe('a put that is answered', () => {
  const later = Math.ceil(Date.now() / 1_000) + 60

  test.each([
    [
      'the id of another record',
      json({ uri: `at://${DID}/${POST}/3kkkkkkkkkkkk`, cid: CID }),
      { kind: 'unknown', cause: 'unclear_answer' },
    ],
    ['a page', page(200), { kind: 'unknown', cause: 'unclear_answer' }],
    ['a page with 400', page(400), { kind: 'unknown', cause: 'unclear_answer' }],
    ['a page with 502', page(502), { kind: 'unknown', cause: 'server_error' }],
    ['a page with 504', page(504), { kind: 'unknown', cause: 'no_answer' }],
    ['broken JSON', { status: 200, body: '{"uri":' }, { kind: 'unknown', cause: 'unclear_answer' }],
    [
      'a redirect',
      { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      { kind: 'unknown', cause: 'unclear_answer' },
    ],
    [
      'half of the answer',
      { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"uri"' },
      { kind: 'unknown', cause: 'no_answer' },
    ],
    ['nothing', { raw: '' }, { kind: 'unknown', cause: 'no_answer' }],
    [
      'two megabytes',
      { status: 200, body: `{"uri":"${'x'.repeat(2_000_000)}"}` },
      { kind: 'unknown', cause: 'no_answer' },
    ],
    [
      'a pause until a time',
      json({ error: 'RateLimitExceeded', message: 'Slow down' }, 429, {
        'ratelimit-reset': String(later),
      }),
      { kind: 'not_applied', reason: 'rate_limited' },
    ],
    [
      'a pause of some seconds',
      { status: 429, headers: { 'retry-after': '7' } },
      { kind: 'not_applied', reason: 'rate_limited', retryAfterMs: 7_000 },
    ],
    [
      'a pause of a year',
      { status: 429, headers: { 'retry-after': '31536000' } },
      { kind: 'not_applied', retryAfterMs: 86_400_000 },
    ],
    [
      'an ended session',
      error(400, 'ExpiredToken'),
      { kind: 'not_applied', isSessionOver: true, retryAfterMs: 5_000 },
    ],
    ['a closed account', error(401, 'AccountTakedown'), { kind: 'disconnected' }],
    [
      'a refusal',
      error(400, 'InvalidRequest', `Too \u202e long\n${'x'.repeat(500)}`),
      { kind: 'refused', reason: `InvalidRequest: Too long ${'x'.repeat(191)}` },
    ],
  ])('with %s', async (_, answer, expected) => {
    it.script[PUT] = answer
    const result = await publish('What comes of it?')
    expect(result).toMatchObject(expected)
    if ('retryAfterMs' in result && answer.headers && 'ratelimit-reset' in answer.headers)
      expect(Math.abs(result.retryAfterMs! - 60_000)).toBeLessThan(10_000)
    expect(it.asked()).toEqual([PUT])
  })

  test('by nobody in time, or not before the caller gives up, may have arrived', async () => {
    it.script[PUT] = { hang: 'before' }
    expect(await publish('Late.', { deadlineMs: 50 })).toMatchObject({
      kind: 'unknown',
      cause: 'no_answer',
    })
    it.script[PUT] = { hang: 'within', status: 200, body: '{' }
    expect(await publish('Endless.', { deadlineMs: 300 })).toMatchObject({
      kind: 'unknown',
      cause: 'no_answer',
    })
    it.script[PUT] = { hang: 'before' }
    const stopping = new AbortController()
    const sending = it.network.publish(posting(it, 'Later.'), stopping.signal)
    await it.receiver.received(3)
    stopping.abort()
    expect(await sending).toMatchObject({ kind: 'unknown', cause: 'no_answer' })
  })

  test('by nobody at all was not sent', async () => {
    await it.receiver[Symbol.asyncDispose]()
    expect(await publish('Nobody.')).toMatchObject({ kind: 'not_applied', reason: 'unreachable' })
  })

  test('was not sent if it was given up before, or if its server may not be called', async () => {
    expect(await it.network.publish(posting(it, 'Early.'), AbortSignal.abort())).toMatchObject({
      kind: 'not_applied',
      reason: 'unreachable',
    })
    const account = it.accountWith({ pds: 'https://10.0.0.1' })
    expect(await publish('Inside.', { account })).toMatchObject({
      kind: 'not_applied',
      reason: 'unreachable',
    })
    expect(it.asked()).toEqual([])
  })
})
