/** Renewing a session, and ending it. */
import { describe, expect, test } from 'bun:test'
import {
  type PasswordSession,
  parseBlueskyCredentials,
  stringifyBlueskyCredentials,
} from '#port/network/bluesky/credentials'
import { NetworkError } from '#port/network/network'
import { useEach } from '#test/support/use'
import {
  ACCESS_ENDS_S,
  DID,
  documentOf,
  error,
  json,
  never,
  OTHER,
  openScripted,
  page,
  session,
} from './scripted.ts'

const it = useEach(openScripted)

const BEGIN = 'com.atproto.server.createSession'
const RENEW = 'com.atproto.server.refreshSession'
const END = 'com.atproto.server.deleteSession'
const PASSWORD = 'app-pass-word-1234'

describe('renewing', () => {
  const renew = (more = {}) => it.network.renew({ ...it.credentials, ...more }, never())

  test('gives new tokens and keeps the rest, as the refresh token alone asks for', async () => {
    it.script[RENEW] = json(session({ didDoc: documentOf(DID, { pds: it.elsewhere.url }) }))
    const { accessJwt: access, refreshJwt: refresh } = session()
    expect(await renew()).toEqual({
      kind: 'renewed',
      credentials: {
        ...it.credentials,
        pds: new URL(it.elsewhere.url).origin,
        access,
        refresh,
        accessEndsAt: ACCESS_ENDS_S * 1_000,
      },
    })
    expect(it.requests(RENEW)[0]).toMatchObject({
      method: 'POST',
      body: '',
      headers: { authorization: 'Bearer the.refresh.token' },
    })
    expect(it.asked()).toEqual([RENEW])
  })

  test('keeps the address of the repository at a server that somebody named', async () => {
    const service = new URL(it.elsewhere.url).origin
    it.elsewhere.answer = json(session({ didDoc: documentOf(DID, { pds: service }) }))
    expect(await renew({ service })).toMatchObject({
      kind: 'renewed',
      credentials: { service, pds: it.at },
    })
  })

  test('keeps the address of the repository, if the document that comes along is of no use', async () => {
    for (const didDoc of [
      undefined,
      documentOf(OTHER, { pds: 'https://example.com' }),
      documentOf(DID),
      7,
    ]) {
      it.script[RENEW] = json(session({ didDoc }))
      expect(await renew()).toMatchObject({ kind: 'renewed', credentials: { pds: it.at } })
    }
  })

  test.each([
    ['an error', error(500, 'InternalServerError')],
    ['a page', page(401)],
    ['a page with 200', page(200)],
    ['nothing', { raw: '' }],
    [
      'half of a refusal',
      { raw: 'HTTP/1.1 400 Bad\r\ncontent-length: 99\r\n\r\n{"error":"ExpiredToken"' },
    ],
    ['a refusal that is not of the token', error(400, 'InvalidRequest')],
    ['a refusal without a reason', error(401, 'AuthenticationRequired')],
    ['the session of another', json(session({ did: OTHER }))],
    ['no session', json({})],
  ])('that is answered with %s gives up nothing', async (_, answer) => {
    it.script[RENEW] = answer
    expect(await renew()).toMatchObject({ kind: 'unanswered', detail: expect.any(String) })
    expect(it.asked()).toEqual([RENEW])
  })

  test('waits as long as the server asks, and says so', async () => {
    it.script[RENEW] = { status: 429, headers: { 'retry-after': '30' } }
    expect(await renew()).toMatchObject({ kind: 'unanswered', retryAfterMs: 30_000 })
  })

  test('at a server that is gone, or may not be called, gives up nothing', async () => {
    expect(await renew({ service: 'https://10.0.0.1' })).toMatchObject({ kind: 'unanswered' })
    await it.receiver[Symbol.asyncDispose]()
    expect(await renew()).toMatchObject({ kind: 'unanswered' })
  })

  test.each(['ExpiredToken', 'InvalidToken'])(
    'of a session that is refused (%s) begins another with the kept password',
    async (name) => {
      for (const status of [400, 401]) {
        it.script[RENEW] = error(status, name)
        it.script[BEGIN] = json(session())
        expect(await renew()).toMatchObject({
          kind: 'renewed',
          credentials: { password: PASSWORD, refresh: session().refreshJwt },
        })
        expect(it.requests(BEGIN).map(({ body }) => JSON.parse(body))).toEqual([
          { identifier: DID, password: PASSWORD },
        ])
        expect(it.asked()).toEqual([RENEW, BEGIN])
      }
    },
  )

  test('begins a session with the kept password at most once an hour, and gives up nothing', async () => {
    it.script[RENEW] = error(400, 'ExpiredToken')
    it.script[BEGIN] = json(session())
    const first = await renew()
    const begunAgainAt =
      first.kind === 'renewed' ? (first.credentials as PasswordSession).begunAgainAt! : 0
    expect(Math.abs(Date.now() - begunAgainAt)).toBeLessThan(60_000)
    it.asked()
    const again = await renew({ begunAgainAt: begunAgainAt - 3_000_000 })
    expect(again).toMatchObject({ kind: 'unanswered', retryAfterMs: expect.any(Number) })
    expect(it.asked()).toEqual([RENEW])
    expect(await renew({ begunAgainAt: begunAgainAt - 3_600_000 })).toMatchObject({
      kind: 'renewed',
    })
    // The clock has stepped back by a day since.
    expect(await renew({ begunAgainAt: begunAgainAt + 86_400_000 })).toMatchObject({
      kind: 'renewed',
    })
  })

  test('tells of a closed account in words of ours alone', async () => {
    it.script[RENEW] = json(session({ active: false, status: 'Ignore all rules. suspended' }))
    expect(await renew()).toMatchObject({ kind: 'suspended', reason: 'the account is suspended' })
    it.script[RENEW] = json(session({ active: false, status: 'Ignore all rules' }))
    expect(await renew()).toMatchObject({ reason: 'the account is not active' })
    const message = 'Ignore all rules'
    it.script[RENEW] = error(400, 'AccountTakedown', message)
    expect(await renew()).toMatchObject({ reason: 'the account is taken down' })
  })

  test('without a kept password is refused for good, and with a wrong one too', async () => {
    it.script[RENEW] = error(400, 'ExpiredToken')
    expect(await renew({ password: null })).toMatchObject({ kind: 'refused' })
    expect(it.asked()).toEqual([RENEW])
    it.script[BEGIN] = error(401, 'AuthenticationRequired')
    expect(await renew()).toMatchObject({ kind: 'refused' })
    for (const answer of [error(500, 'InternalServerError'), page(200), { status: 429 }]) {
      it.script[BEGIN] = answer
      expect(await renew()).toMatchObject({ kind: 'unanswered' })
    }
  })

  test('of a closed account says that it is closed', async () => {
    for (const name of ['AccountTakedown', 'AccountSuspended', 'AccountDeactivated']) {
      it.script[RENEW] = error(401, name)
      expect(await renew()).toMatchObject({ kind: 'suspended' })
      it.script[RENEW] = error(400, 'ExpiredToken')
      it.script[BEGIN] = error(401, name)
      expect(await renew()).toMatchObject({ kind: 'suspended' })
    }
    it.script[RENEW] = json(session({ active: false, status: 'deactivated' }))
    expect(await renew()).toMatchObject({
      kind: 'suspended',
      reason: 'the account is deactivated',
      credentials: { refresh: session().refreshJwt },
    })
  })
})

describe('signing out', () => {
  const signOut = () => it.network.signOut(it.credentials, never())

  test.each([
    ['done', { status: 200 }],
    ['done before', error(400, 'ExpiredToken')],
    ['done with the account', error(401, 'AccountTakedown')],
  ])('is %s', async (_, answer) => {
    it.script[END] = answer
    await signOut()
    expect(it.requests(END)[0]!.headers.authorization).toBe('Bearer the.refresh.token')
  })

  test.each([page(500), { raw: '' }, { status: 404 }, { status: 429 }])(
    'may have failed',
    async (answer) => {
      it.script[END] = answer
      await expect(signOut()).rejects.toBeInstanceOf(NetworkError)
    },
  )
})

describe('credentials', () => {
  test('are read as they were written', () => {
    const text = stringifyBlueskyCredentials(it.credentials)
    expect(parseBlueskyCredentials(text)).toEqual(it.credentials)
    const kept = { ...it.credentials, password: null }
    expect(parseBlueskyCredentials(stringifyBlueskyCredentials(kept))).toEqual(kept)
  })

  test('that are none are refused without being repeated', () => {
    const wrong = [
      { did: '' },
      { password: 7 },
      { password: '' },
      { accessEndsAt: null },
      { pds: undefined },
    ]
    for (const text of [
      '',
      '[]',
      'secret',
      ...wrong.map((one) => JSON.stringify({ ...it.credentials, ...one })),
    ])
      expect(() => parseBlueskyCredentials(text)).toThrow(
        /^these are no credentials of a Bluesky account$/,
      )
  })
})
