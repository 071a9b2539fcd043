/** Forged and misplaced tokens, and what sign-in reveals about accounts. */
import { afterEach, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { SignJWT } from 'jose'
import { newApiKey } from '#kernel/api-key'
import { deriveKey } from '#kernel/secret'
import { type TestApp, testApp } from '#test/support/app'
import { TEST_SECRET } from '#test/support/database/db'
import {
  forgetAttempts,
  inviteTo,
  type Joined,
  joinAs,
  PASSWORD,
  sendForm,
} from '#test/support/people'
import { useApp } from '#test/support/use'

let ann: Joined
const app = useApp()
beforeAll(async () => {
  ann = await joinAs(app)
})
afterEach(() => forgetAttempts(app))

const ownKey = deriveKey(TEST_SECRET, 'access tokens')
const me = (key: string) => app.send('GET', '/api/v1/app/session', { key })
const refresh = (refresh_token: string) =>
  app.send('POST', '/api/v1/app/session/refresh', { key: null, body: { refresh_token } })

interface Forged {
  header?: Record<string, string>
  claims?: Record<string, unknown>
  key?: Uint8Array
}

/** A valid access token, except where the arguments differ. */
const forge = ({ header = {}, claims = {}, key = ownKey }: Forged): Promise<string> => {
  const at = Math.floor(Date.now() / 1_000)
  const usual = {
    iss: 'tendril',
    aud: 'tendril:app',
    sub: ann.personId,
    sid: ann.id,
    iat: at,
    exp: at + 600,
  }
  return new SignJWT({ ...usual, ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', ...header })
    .sign(key)
}

const unsigned = (header: object): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const at = Math.floor(Date.now() / 1_000)
  return `${part(header)}.${part({ iss: 'tendril', aud: 'tendril:app', sub: ann.personId, sid: ann.id, iat: at, exp: at + 600 })}.`
}

describe('an access token', () => {
  test('forged without a change is accepted, so each refusal below is for its change', async () => {
    expect((await me(await forge({}))).status).toBe(200)
  })

  test.each<[string, Forged]>([
    ['for another audience', { claims: { aud: 'tendril:other' } }],
    ['of another issuer', { claims: { iss: 'other' } }],
    ['of another type', { header: { typ: 'JWT' } }],
    ['by another algorithm', { header: { alg: 'HS512' } }],
    ['under another key', { key: deriveKey(Buffer.alloc(32, 'other'), 'access tokens') }],
    ['under the key of refresh tokens', { key: deriveKey(TEST_SECRET, 'refresh tokens') }],
    ['that has expired', { claims: { exp: 1 } }],
    ['that never expires', { claims: { exp: undefined } }],
    ['of another person', { claims: { sub: '00000000-0000-7000-8000-000000000000' } }],
    ['of no session', { claims: { sid: '00000000-0000-7000-8000-000000000000' } }],
    ['whose session is no id', { claims: { sid: "' or 1=1" } }],
  ])('%s is refused', async (_, forged) => {
    const reply = await me(await forge(forged))
    expect([reply.status, reply.body.error?.code]).toEqual([401, 'unauthenticated'])
  })

  test.each(['none', 'None', 'NONE', ''])(
    'without a signature (alg %p) is refused',
    async (alg) => {
      for (const token of [
        unsigned({ alg, typ: 'at+jwt' }),
        `${unsigned({ alg, typ: 'at+jwt' })}AAAA`,
      ])
        expect((await me(token)).status).toBe(401)
    },
  )

  test('with a shortened signature or changed claims is refused', async () => {
    const [header, claims, signature] = ann.access.split('.') as [string, string, string]
    const changed = Buffer.from(
      Buffer.from(claims, 'base64url').toString().replace(ann.id, ann.personId),
    ).toString('base64url')
    for (const token of [
      `${header}.${claims}.`,
      `${header}.${claims}`,
      `${header}.${changed}.${signature}`,
      `${header}.${claims}.${signature}A`,
    ])
      expect((await me(token)).status).toBe(401)
  })
})

describe('tokens in the place of others', () => {
  test('are refused: a refresh token as Bearer, an access token or a key for a refresh', async () => {
    const one = await joinAs(app)
    expect((await me(one.refresh)).status).toBe(401)
    for (const token of [
      one.access,
      app.key,
      newApiKey(),
      'rt_',
      `${one.refresh}x`,
      one.refresh.slice(0, -1),
    ])
      expect((await refresh(token)).status).toBe(401)
    expect((await me(one.access)).status).toBe(200)
    expect((await refresh(one.refresh)).status).toBe(200)
  })

  test('are refused: any token as a device code, an access token in the cookie of the refresh token, and the reverse', async () => {
    const grant = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: 'tendril-cli',
    }
    for (const device_code of [ann.access, ann.refresh, app.key]) {
      const reply = await sendForm(app, '/api/v1/app/device/token', { ...grant, device_code })
      expect([reply.status, reply.body.error]).toEqual([400, 'invalid_grant'])
    }
    const swapped = await app.send('POST', '/api/v1/app/session/refresh', {
      key: null,
      body: {},
      headers: { cookie: `tendril-refresh=${ann.access}`, origin: app.url },
    })
    expect(swapped.status).toBe(401)
    expect(
      (
        await app.send('GET', '/api/v1/app/session', {
          key: null,
          headers: { cookie: `tendril=${ann.refresh}` },
        })
      ).status,
    ).toBe(401)
  })
})

describe('sign-in', () => {
  const attempt = async (server: TestApp, email: string) => {
    const verify = spyOn(Bun.password, 'verify')
    const hash = spyOn(Bun.password, 'hash')
    const reply = await server.send('POST', '/api/v1/app/session', {
      key: null,
      body: { email, password: 'not the password' },
    })
    const costs = verify.mock.calls.map(
      ([, against]) => /^\$argon2id\$v=\d+\$m=\d+,t=\d+,p=\d+\$/.exec(String(against))?.[0],
    )
    const work = { costs, hashed: hash.mock.calls.length }
    verify.mockRestore()
    hash.mockRestore()
    const { request_id: _, ...error } = reply.body.error!
    return { status: reply.status, error, headers: [...reply.headers.keys()].sort(), ...work }
  }

  test('does the same work and answers the same for an existing account and an unknown one', async () => {
    // With what a password costs where nothing is overridden.
    await using server = await testApp({ overrides: { passwordCost: undefined } })
    await attempt(server, 'first@example.com')
    const { tenantId } = await server.newWorkspace()
    const { email } = await joinAs(server)
    await joinAs(server, { email: 'shared@example.com' })
    const body = {
      token: await inviteTo(server, { tenantId }),
      email: 'shared@example.com',
      password: 'of another account',
    }
    expect(
      (await server.send('POST', '/api/v1/app/invitations/accept', { key: null, body })).status,
    ).toBe(201)
    const [known, unknown] = [
      await attempt(server, email),
      await attempt(server, 'nobody@example.com'),
    ]
    const cost = expect.stringContaining('m=19456,t=2')
    expect(known).toMatchObject({ status: 401, costs: [cost, cost, cost], hashed: 0 })
    expect([unknown, await attempt(server, 'shared@example.com')]).toEqual([known, known])
  })

  test('counts wrong passwords that arrive at once, and locks nobody out at other addresses', async () => {
    const wrong = () =>
      app.send('POST', '/api/v1/app/session', {
        key: null,
        body: { email: ann.email, password: 'wrong' },
      })
    const replies = await Promise.all(Array.from({ length: 30 }, wrong))
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(20)
    for (let tries = 0; tries < 100; tries++) await wrong()
    await using other = await testApp({
      database: app.options,
      env: { TRUSTED_PROXIES: '127.0.0.1' },
    })
    const body = { email: ann.email, password: PASSWORD }
    const headers = { 'x-forwarded-for': '192.0.2.7' }
    expect(
      (await other.send('POST', '/api/v1/app/session', { key: null, body, headers })).status,
    ).toBe(201)
  })
})
