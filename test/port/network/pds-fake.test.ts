/** What the fake PDS does for tests, besides answering as the real one. */
import { expect, test } from 'bun:test'
import { type FakePds, openPds, type PdsAccount } from '#test/support/network/pds'
import { callPds, type PdsCall, type PdsCase } from '#test/support/network/pds-client'
import type { PdsFault } from '#test/support/network/pds-faults'
import { useEach } from '#test/support/use'

const POST = 'app.bsky.feed.post'
const PUT = 'com.atproto.repo.putRecord'
const GET = 'com.atproto.repo.getRecord'
const WAIT_MS = 100

const pds = useEach(openPds)

const call = (method: string, given?: PdsCall) => callPds(pds as FakePds & PdsCase, method, given)

const sessionOf = async ({ handle, appPassword }: PdsAccount) => {
  const { body } = await call('com.atproto.server.createSession', {
    body: { identifier: handle, password: appPassword },
  })
  return { access: body.accessJwt, refresh: body.refreshJwt }
}

interface Written {
  rkey?: string
  collection?: string
  record?: object
}

const put = (
  { did }: PdsAccount,
  token: string,
  { rkey = '3kabcdefghijk', collection = POST, record = {} }: Written = {},
) =>
  call(PUT, {
    body: {
      repo: did,
      collection,
      rkey,
      swapRecord: null,
      record: { text: 'Hello', createdAt: '2026-11-29T10:00:00.000Z', ...record },
    },
    token,
  })

const applied: [PdsFault, number | 'none', number][] = [
  ['away', 'none', 0],
  ['lost', 'none', 1],
  [{ status: 500 }, 500, 0],
  [{ status: 502, isApplied: true }, 502, 1],
  [{ status: 503, body: '<html>', headers: { 'content-type': 'text/html' } }, 503, 0],
  [{ limitedSeconds: 60 }, 429, 0],
  [{ slowMs: 1 }, 200, 1],
]

test.each(applied)(
  'a request with the fault %j gets %p and makes %i records, once',
  async (fault, status, count) => {
    const account = pds.account('alice.test')
    const { access } = await sessionOf(account)
    pds.fail(PUT, fault)
    const answered = await put(account, access).then(
      (answer) => answer.status,
      () => 'none' as const,
    )
    expect(answered).toBe(status)
    expect(pds.records(account.did, POST)).toHaveLength(count)
    expect((await put(account, access)).status).toBe(200)
    expect([pds.records(account.did).length, pds.commits(account.did)]).toEqual([1, 1])
  },
)

test.each([
  ['hang', 0],
  ['silent', 1],
] as const)('a request that is %s is not answered, and makes %i records', async (fault, count) => {
  const account = pds.account('alice.test')
  const { access } = await sessionOf(account)
  pds.fail('*', fault, { times: 2 })
  const body = { repo: account.did, collection: POST, rkey: '3kabcdefghijk' }
  const record = { text: 'Hello', createdAt: '2026-11-29T10:00:00.000Z' }
  const asked = fetch(`${pds.url}/xrpc/${PUT}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${access}` },
    body: JSON.stringify({ ...body, record }),
    signal: AbortSignal.timeout(WAIT_MS),
  })
  expect(
    await asked.then(
      () => 'answered',
      ({ name }: Error) => name,
    ),
  ).toBe('TimeoutError')
  expect(pds.records(account.did)).toHaveLength(count)
  pds.heal()
  expect((await put(account, access)).status).toBe(200)
})

test('pages, redirects and bodies without an end come in place of answers', async () => {
  const { did } = pds.account('alice.test')
  const asked = () =>
    fetch(`${pds.url}/xrpc/${GET}?repo=${did}&collection=${POST}&rkey=3kabcdefghijk`, {
      redirect: 'manual',
    })
  pds.fail(GET, 'html')
  expect((await asked()).headers.get('content-type')).toContain('text/html')
  pds.fail(GET, { redirect: 'http://127.0.0.1:1/' })
  expect((await asked()).headers.get('location')).toBe('http://127.0.0.1:1/')
  pds.fail(GET, { limitedSeconds: 60 })
  const reset = Number((await asked()).headers.get('ratelimit-reset'))
  expect(Math.abs(reset - 60 - Date.now() / 1_000)).toBeLessThan(10)
  pds.fail(GET, 'endless')
  let bytes = 0
  for await (const chunk of (await asked()).body!) {
    bytes += chunk.length
    if (bytes > 2 ** 20) break
  }
  expect(bytes).toBeGreaterThan(2 ** 20)
  pds.fail('plc', { status: 500 })
  expect((await fetch(`${pds.plcUrl}/${did}`)).status).toBe(500)
  expect(pds.requests).toEqual([...Array(4).fill(`GET ${GET}`), `GET ${did}`])
})

test('a share of the requests goes wrong until the faults end', async () => {
  const describe = () => call('com.atproto.server.describeServer')
  pds.fail('*', { status: 500 }, { share: 1 })
  expect([(await describe()).status, (await describe()).status]).toEqual([500, 500])
  pds.heal()
  expect((await describe()).status).toBe(200)
})

test('access tokens expire at once, refresh tokens by the clock, and revoked ones too', async () => {
  const account = pds.account('alice.test')
  const { access, refresh } = await sessionOf(account)
  const get = (token: string) => call('com.atproto.server.getSession', { token })
  const renew = (token: string) =>
    call('com.atproto.server.refreshSession', { verb: 'POST', token })
  pds.expireAccess()
  expect((await get(access)).body).toMatchObject({ error: 'ExpiredToken' })
  const { body } = await renew(refresh)
  expect((await get(body.accessJwt)).status).toBe(200)
  pds.advance(7_100_000)
  expect((await renew(refresh)).status).toBe(200)
  pds.advance(7_300_000)
  expect((await renew(refresh)).body).toMatchObject({ error: 'ExpiredToken' })
  const next = await renew(body.refreshJwt)
  expect(next.status).toBe(200)
  pds.revoke(account.did)
  expect((await renew(next.body.refreshJwt)).body).toMatchObject({ error: 'ExpiredToken' })
  expect(pds.account('alice.test').appPassword).not.toBe(account.appPassword)
})

test('the directory names another PDS, or says what a test says', async () => {
  const { did, handle } = pds.account('alice.test')
  await using second = await openPds()
  expect(second.account(handle, { did }).did).toBe(did)
  pds.move(did, second.url)
  const read = async () => (await fetch(`${pds.plcUrl}/${did}`)).json()
  expect(await read()).toMatchObject({ service: [{ serviceEndpoint: second.url }] })
  pds.setDocument(did, { id: 'did:plc:other' })
  expect(await read()).toEqual({ id: 'did:plc:other' })
  pds.setDocument(did, undefined)
  expect(await read()).toMatchObject({ service: [{ serviceEndpoint: pds.url }] })
})

test('with an AppView, numbers, feeds, profiles and notifications come from the records', async () => {
  pds.appView = true
  const [alice, bob] = [pds.account('alice.test'), pds.account('bob.test')]
  const [own, other] = [(await sessionOf(alice)).access, (await sessionOf(bob)).access]
  const { uri, cid } = (await put(alice, own)).body
  const subject = { uri, cid }
  const collections = ['app.bsky.feed.like', 'app.bsky.feed.repost']
  for (const collection of collections) await put(bob, other, { collection, record: { subject } })
  const facets = [
    {
      index: { byteStart: 0, byteEnd: 5 },
      features: [{ $type: 'app.bsky.richtext.facet#mention', did: alice.did }],
    },
  ]
  const embed = { $type: 'app.bsky.embed.record', record: subject }
  const made = [{ reply: { root: subject, parent: subject } }, { embed }, { facets }]
  for (const [nth, record] of made.entries())
    expect((await put(bob, other, { rkey: `3kabcdefghij${nth + 2}`, record })).status).toBe(200)
  const ask = async (method: string, query: Record<string, string> = {}): Promise<unknown> =>
    (await call(`app.bsky.${method}`, { query, token: own })).body
  const numbers = { likeCount: 1, repostCount: 1, replyCount: 1, quoteCount: 1 }
  expect(await ask('feed.getPosts', { uris: uri })).toMatchObject({
    posts: [{ uri, cid, author: { handle: 'alice.test' }, record: { text: 'Hello' }, ...numbers }],
  })
  expect(await ask('feed.getAuthorFeed', { actor: alice.did })).toMatchObject({
    feed: [{ post: { uri, ...numbers } }],
  })
  expect(await ask('feed.getAuthorFeed', { actor: 'bob.test', limit: '1' })).toMatchObject({
    feed: [expect.any(Object)],
    cursor: expect.any(String),
  })
  expect(await ask('actor.getProfile', { actor: 'bob.test' })).toMatchObject({
    did: bob.did,
    postsCount: 3,
  })
  const { notifications } = (await ask('notification.listNotifications')) as {
    notifications: { reason: string; author: { did: string } }[]
  }
  expect(notifications.map(({ reason }) => reason).sort()).toEqual([
    'like',
    'mention',
    'quote',
    'reply',
    'repost',
  ])
  expect(new Set(notifications.map(({ author }) => author.did))).toEqual(new Set([bob.did]))
})

test('limits are told in headers, of which the least is left, and refuse what exceeds them', async () => {
  await using limited = await openPds({ limits: { hour: 5 } })
  const { did, handle, appPassword } = limited.account('alice.test')
  const ask = async (method: string, body: object, token = '') => {
    const answer = await fetch(`${limited.url}/xrpc/${method}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
      body: JSON.stringify(body),
    })
    const { status, headers } = answer
    const policy = headers.get('ratelimit-policy')
    const remaining = headers.get('ratelimit-remaining')
    const { accessJwt, error } = (await answer.json()) as { accessJwt: string; error?: string }
    return { accessJwt, seen: [status, policy, remaining, ...(error ? [error] : [])] }
  }
  const login = { identifier: handle, password: appPassword }
  const { accessJwt, seen } = await ask('com.atproto.server.createSession', login)
  expect(seen).toEqual([200, '30;w=300', '29'])
  const record = { text: 'Hello', createdAt: '2026-11-29T10:00:00.000Z' }
  const body = { repo: did, collection: POST, rkey: '3kabcdefghijk', record }
  const write = async () => (await ask(PUT, body, accessJwt)).seen
  expect(await write()).toEqual([200, '5;w=3600', '3'])
  expect(await write()).toEqual([200, '5;w=3600', '1'])
  expect(await write()).toEqual([429, '5;w=3600', '0', 'RateLimitExceeded'])
  limited.advance(3_600_000)
  expect(await write()).toEqual([200, '5;w=3600', '3'])
})
