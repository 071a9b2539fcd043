/** Signing in with an app password. */
import { describe, expect, test } from 'bun:test'
import { AppError } from '#kernel/errors'
import { NetworkError } from '#port/network/network'
import { useEach } from '#test/support/use'
import {
  ACCESS_ENDS_S,
  CID,
  DID,
  documentOf,
  error,
  json,
  never,
  OTHER,
  openScripted,
  page,
  session,
  token,
} from './scripted.ts'

const it = useEach(openScripted)

const BEGIN = 'com.atproto.server.createSession'
const END = 'com.atproto.server.deleteSession'
const GET = 'com.atproto.repo.getRecord'
const PASSWORD = 'app-pass-word-1234'

const signIn = (more: Partial<Parameters<typeof it.network.signIn>[0]> = {}) =>
  it.network.signIn(
    { handle: '@Alice.Example.com ', password: PASSWORD, keep: true, ...more },
    never(),
  )
/** The field that is refused, or the reason why nothing can be said. */
const failureOf = async (running: Promise<unknown>): Promise<string> => {
  const cause = await running.then(
    () => 'none',
    (thrown: unknown) => thrown,
  )
  if (cause instanceof NetworkError) return cause.reason
  return cause instanceof AppError
    ? `${cause.code} ${cause.details?.[0]?.path ?? ''}`
    : String(cause)
}
const messageOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'none',
    (cause: Error) => cause.message,
  )

describe('signing in', () => {
  test('gives what the account is used with, and who it is', async () => {
    it.script[BEGIN] = json(session({ didDoc: documentOf(DID, { pds: `${it.at}/` }) }))
    it.script[GET] = json({
      uri: 'at://x',
      cid: CID,
      value: { displayName: ' Alice \u202eof Wonderland\n' },
    })
    const { accessJwt: access, refreshJwt: refresh } = session()
    expect(await signIn()).toEqual({
      credentials: {
        service: it.at,
        pds: it.at,
        did: DID,
        access,
        refresh,
        password: PASSWORD,
        accessEndsAt: ACCESS_ENDS_S * 1_000,
        begunAgainAt: null,
      },
      handle: 'alice.example.com',
      displayName: 'Alice of Wonderland',
    })
    expect(JSON.parse(it.requests(BEGIN)[0]!.body)).toEqual({
      identifier: 'alice.example.com',
      password: PASSWORD,
    })
    expect(it.asked()).toEqual([BEGIN, GET])
  })

  test('keeps no password if it is not to be kept, and needs no display name', async () => {
    it.script[BEGIN] = json(session({ didDoc: documentOf(DID, { pds: it.at }) }))
    const { credentials, displayName } = await signIn({ keep: false })
    expect([credentials.password, displayName]).toEqual([null, null])
  })

  test('asks the directory where the repository is, if the server does not say', async () => {
    it.script[BEGIN] = json(session())
    it.script[`/plc/${DID}`] = json(documentOf(DID, { pds: it.elsewhere.url }))
    expect((await signIn()).credentials).toMatchObject({
      service: it.at,
      pds: new URL(it.elsewhere.url).origin,
    })
    it.script[END] = { status: 200 }
    it.script[`/plc/${DID}`] = json(documentOf(DID))
    expect(await failureOf(signIn())).toBe('invalid_input ')
    it.asked()
    it.script[`/plc/${DID}`] = page(503)
    expect(await failureOf(signIn())).toBe('unreachable')
    expect(it.asked()).toEqual([BEGIN, `/plc/${DID}`, END])
  })

  test('believes no document of a server that somebody named: it could claim any account', async () => {
    const url = new URL(it.elsewhere.url).origin
    it.elsewhere.answer = json(session({ didDoc: documentOf(DID, { pds: url }) }))
    it.script[`/plc/${DID}`] = json(documentOf(DID, { pds: it.at }))
    const { credentials } = await signIn({ service: url })
    expect(credentials).toMatchObject({ service: url, pds: it.at })
  })

  test('with a DID begins a session of that DID only', async () => {
    it.script[BEGIN] = json(session({ didDoc: documentOf(DID, { pds: it.at }), handle: undefined }))
    expect((await signIn({ handle: ` ${DID} ` })).handle).toBe(DID)
    expect(await failureOf(signIn({ handle: OTHER }))).toBe('bad_answer')
  })

  test.each([
    '',
    '@',
    'alice',
    'alice@example.com',
    'http://example.com',
    '127.0.0.1',
    'a..b.com',
    '-a.com',
    'handle.invalid',
    'did:plc:',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}com`,
  ])('as %j is refused, because it is no handle', async (handle) => {
    expect(await failureOf(signIn({ handle }))).toBe('invalid_input handle')
    expect(it.asked()).toEqual([])
  })

  test.each([
    '',
    'bsky.social',
    'ftp://bsky.social',
    'https://bsky.social/path',
    'https://bsky.social?a',
    'https://a@bsky.social',
    'https://10.0.0.1',
    'http://bsky.social',
  ])('at %j is refused, because it is no address of a server', async (service) => {
    expect(await failureOf(signIn({ service }))).toBe('invalid_input service')
    expect(it.asked()).toEqual([])
  })

  test.each([
    ['a wrong password', error(401, 'AuthenticationRequired'), 'invalid_input app_password'],
    ['a second factor', error(401, 'AuthFactorTokenRequired'), 'invalid_input app_password'],
    ['a closed account', error(401, 'AccountTakedown'), 'invalid_input handle'],
    ['a refusal of its own', error(400, 'InvalidRequest'), 'invalid_input '],
    ['a pause', { status: 429, headers: { 'retry-after': '7' } }, 'rate_limited'],
    ['a page', page(200), 'bad_answer'],
    ['a page with 404', page(404), 'bad_answer'],
    ['a page with 502', page(502), 'unreachable'],
    ['a redirect', { status: 301, headers: { location: 'https://example.com/' } }, 'bad_answer'],
    ['broken JSON', { status: 200, body: '{"did":' }, 'bad_answer'],
    ['a list', json([]), 'bad_answer'],
    ['no tokens', json({ did: DID }), 'bad_answer'],
    ['a token of two lines', json(session({ accessJwt: 'a\nb' })), 'bad_answer'],
    ['no DID', json(session({ did: 'alice' })), 'bad_answer'],
    ['100 megabytes', { status: 200, body: Buffer.alloc(100_000_000, 32) }, 'unreachable'],
    ['half of the answer', { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{' }, 'unreachable'],
    ['nothing', { raw: '' }, 'unreachable'],
  ])('is answered with %s', async (_, answer, expected) => {
    it.script[BEGIN] = answer
    expect(await failureOf(signIn())).toBe(expected)
    expect(it.asked()).toEqual([BEGIN])
  })

  test('is given up when the caller gives up', async () => {
    it.script[BEGIN] = { hang: 'before' }
    const stopping = new AbortController()
    const wanted = { handle: 'alice.example.com', password: PASSWORD, keep: false }
    const running = failureOf(it.network.signIn(wanted, stopping.signal))
    await it.receiver.received(1)
    stopping.abort()
    expect(await running).toBe('unreachable')
  })

  test.each([
    [
      "the account's own password",
      { accessJwt: token({ scope: 'com.atproto.access' }) },
      'app_password is',
    ],
    [
      'a deactivated account',
      { active: false, status: 'deactivated' },
      'the account is deactivated',
    ],
    ['a closed account', { active: false, status: 'takendown' }, 'the account is taken down'],
  ])('with %s ends the session that was begun', async (_, more, words) => {
    it.script[BEGIN] = json(session({ didDoc: documentOf(DID, { pds: it.at }), ...more }))
    it.script[END] = { status: 200 }
    expect(await messageOf(signIn())).toContain(words)
    expect(it.requests(END)[0]!.headers.authorization).toBe(`Bearer ${session().refreshJwt}`)
    expect(it.asked()).toEqual([BEGIN, END])
  })

  test('never repeats the password, whatever the server says', async () => {
    for (const [status, name] of [
      [401, 'AuthenticationRequired'],
      [400, 'InvalidRequest'],
      [401, 'AccountTakedown'],
    ] as const) {
      it.script[BEGIN] = error(status, name, `no: ${PASSWORD}`)
      expect(await messageOf(signIn())).not.toContain(PASSWORD)
    }
  })

  test('says where app passwords are made', async () => {
    it.script[BEGIN] = error(401, 'AuthenticationRequired')
    expect(await messageOf(signIn())).toContain('https://bsky.app/settings/app-passwords')
  })
})
