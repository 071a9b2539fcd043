/**
 * A device that polls for the decision of a person, who has few attempts at its code; and the
 * revocation of tokens.
 */
import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { insertKeys } from '#test/support/database/writes'
import {
  approvedToken,
  askForCode,
  askForToken,
  decide,
  forgetAttempts,
  type Joined,
  joinAs,
  PASSWORD,
  sendForm,
} from '#test/support/people'
import { useApp } from '#test/support/use'

let ann: Joined
const app = useApp({ env: { PUBLIC_URL: 'https://tendril.example.com' } })
beforeAll(async () => {
  ann = await joinAs(app)
})
afterEach(() => forgetAttempts(app))

const REVOKE = '/api/v1/app/device/revoke'
const hashOf = (text: string) => createHash('sha256').update(text).digest()
const find = (key: string, code: string) =>
  app.send('GET', `/api/v1/app/device?user_code=${code}`, { key })
const me = (key: string) => app.send('GET', '/api/v1/app/session', { key })
const expire = (deviceCode: string) =>
  app.owner`update device_grant set expires_at = clock_timestamp()
    where device_code_hash = ${hashOf(deviceCode)}`

/** Moves the last poll of the device so many seconds into the past. */
const wait = (deviceCode: string, seconds: number) =>
  app.owner`update device_grant set polled_at = polled_at - ${seconds} * interval '1 second'
    where device_code_hash = ${hashOf(deviceCode)}`

describe('a device that polls', () => {
  test('waits for a decision, and must poll more slowly each time it comes too soon', async () => {
    const { device_code } = await askForCode(app)
    const poll = async () => (await askForToken(app, device_code)).body.error as unknown
    expect(await poll()).toBe('authorization_pending')
    expect(await poll()).toBe('slow_down')
    await wait(device_code, 6)
    expect(await poll()).toBe('slow_down')
    await wait(device_code, 10)
    expect(await poll()).toBe('slow_down')
    await wait(device_code, 20)
    expect(await poll()).toBe('authorization_pending')
    await wait(device_code, 19.4)
    expect(await poll()).toBe('slow_down')
  })

  test('gets its token as soon as it is approved, however soon it polls', async () => {
    const { device_code, user_code } = await askForCode(app)
    await askForToken(app, device_code)
    await decide(app, ann.access, user_code)
    expect((await askForToken(app, device_code)).status).toBe(200)
  })

  test('learns that its code has expired, even if it was approved in time', async () => {
    for (const approved of [false, true]) {
      const { device_code, user_code } = await askForCode(app)
      if (approved) await decide(app, ann.access, user_code)
      await expire(device_code)
      const reply = await askForToken(app, device_code)
      expect([reply.status, reply.body.error]).toEqual([400, 'expired_token'])
      if (!approved) expect((await decide(app, ann.access, user_code)).status).toBe(404)
    }
  })

  test('learns that it was denied, and stays denied', async () => {
    const { device_code, user_code } = await askForCode(app)
    expect((await decide(app, ann.access, user_code, { decision: 'deny' })).status).toBe(200)
    expect((await askForToken(app, device_code)).body.error).toBe('access_denied')
    expect((await decide(app, ann.access, user_code)).status).toBe(404)
    expect((await askForToken(app, device_code)).body.error).toBe('access_denied')
    const [audited] = await app.owner`select detail from audit where operation = 'app.device.decide'
        order by id desc limit 1`
    expect(audited!.detail).toEqual({
      decision: 'deny',
      device: 'laptop',
      address: '127.0.0.1',
      scopes: [],
    })
  })

  test.each([
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['no grant type', { grant_type: '' }, 'invalid_request'],
    ['no device code', { device_code: '' }, 'invalid_request'],
    ['an unknown device code', { device_code: 'x'.repeat(43) }, 'invalid_grant'],
    ['a device code beyond any length', { device_code: 'x'.repeat(3_000) }, 'invalid_request'],
    ['an unknown client', { client_id: 'other' }, 'invalid_client'],
    ['no client', { client_id: '' }, 'invalid_request'],
  ])('is refused with %s', async (_, form, error) => {
    const { device_code } = await askForCode(app)
    const reply = await askForToken(app, device_code, form)
    expect([reply.status, reply.body.error]).toEqual([400, error])
  })

  test('gets no token for the code that the person sees', async () => {
    const { user_code } = await askForCode(app)
    for (const code of [user_code, user_code.replace('-', '')])
      expect((await askForToken(app, code)).body.error).toBe('invalid_grant')
  })
})

describe('a person', () => {
  test('sees what the device is, where it asks from and what it would get, however the code is typed', async () => {
    const { user_code } = await askForCode(app)
    const letters = user_code.replace('-', '')
    for (const typed of [
      user_code,
      letters,
      letters.toLowerCase(),
      ` ${letters.slice(0, 2)} ${letters.slice(2)} `,
    ]) {
      const reply = await find(ann.access, encodeURIComponent(typed))
      expect(reply.body.request).toEqual({
        user_code,
        client_id: 'tendril-cli',
        device_name: 'laptop',
        address: '127.0.0.1',
        role: 'owner',
        scopes: ['api:read', 'api:write', 'mcp:use'],
        grantable: ['api:read', 'api:write', 'mcp:use'],
        workspace: { id: app.tenantId, name: 'Test' },
        created_at: expect.any(String),
        expires_at: expect.any(String),
      })
    }
  })

  test('gets the same answer for codes that never existed, were decided or have expired', async () => {
    const [decided, old] = [await askForCode(app), await askForCode(app)]
    await decide(app, ann.access, decided.user_code, { decision: 'deny' })
    await expire(old.device_code)
    const replies = await Promise.all(
      ['BCDF-GHJK', 'AEIOUAEIOU', decided.user_code, old.user_code].map((code) =>
        find(ann.access, code),
      ),
    )
    for (const { status, body } of replies)
      expect([status, body.error?.message]).toEqual([404, replies[0]!.body.error?.message])
  })

  test('has five wrong guesses at codes, and a right code in between gives none back', async () => {
    const { user_code } = await askForCode(app)
    for (let wrong = 0; wrong < 5; wrong++) {
      expect((await find(ann.access, user_code)).status).toBe(200)
      expect((await find(ann.access, 'BCDF-GHJK')).status).toBe(404)
    }
    for (const reply of [
      await find(ann.access, user_code),
      await decide(app, ann.access, user_code),
    ]) {
      expect([reply.status, reply.body.error?.message]).toEqual([429, 'rate_limited:device_code'])
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(60)
    }
  })

  test('has guesses counted over find and decide together, and over everyone at one address', async () => {
    const other = await joinAs(app)
    for (let wrong = 0; wrong < 3; wrong++)
      expect((await find(ann.access, 'BCDF-GHJK')).status).toBe(404)
    for (let wrong = 0; wrong < 2; wrong++)
      expect((await decide(app, other.access, 'BCDF-GHJK')).status).toBe(404)
    expect((await find(other.access, 'BCDF-GHJK')).status).toBe(429)
  })

  test('gets no more guesses by sending them all at once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => find(ann.access, 'BCDF-GHJK')),
    )
    expect(replies.filter(({ status }) => status === 404)).toHaveLength(5)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(15)
  })

  test('decides once: of simultaneous approvals and denials, one takes effect', async () => {
    const { device_code, user_code } = await askForCode(app)
    const replies = await Promise.all(
      ['approve', 'deny', 'approve'].map((decision) =>
        decide(app, ann.access, user_code, { decision }),
      ),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404])
    const winner = replies.find(({ status }) => status === 200)!.body.device.decision
    expect((await askForToken(app, device_code)).status).toBe(winner === 'approve' ? 200 : 400)
  })
})

describe('revoking a token', () => {
  const revoke = (token: string, more: Record<string, string> = {}) =>
    sendForm(app, REVOKE, { token, ...more })

  test('revokes a key', async () => {
    const { access_token: key } = await approvedToken(app, ann)
    const reply = await revoke(key!, { client_id: 'tendril-cli', token_type_hint: 'access_token' })
    expect([reply.status, reply.text]).toEqual([200, ''])
    expect((await app.send('GET', 'items', { key: key! })).status).toBe(401)
    expect((await revoke(key!)).status).toBe(200)
    const audited = await app.owner`select actor_id, surface from audit a
      join api_key k on k.id = a.ref_id where a.operation = 'app.device.revoke'
        and k.hash = ${hashOf(key!)}`
    expect([...audited]).toEqual([{ actor_id: ann.personId, surface: 'cli' }])
  })

  test('ends a session, by either of its tokens', async () => {
    const { access_token } = await approvedToken(app, ann, { scope: 'session' })
    const other = await joinAs(app)
    expect((await revoke(access_token!)).status).toBe(200)
    expect((await revoke(other.refresh)).status).toBe(200)
    expect([(await me(access_token!)).status, (await me(other.access)).status]).toEqual([401, 401])
    expect((await me(ann.access)).status).toBe(200)
  })

  test('answers the same for an unknown token, and refuses a malformed request', async () => {
    for (const token of ['x', 'ak_unknown', 'rt_unknown', 'a.b.c'])
      expect((await revoke(token)).status).toBe(200)
    for (const form of [{}, { token: '' }] as Record<string, string>[])
      expect((await sendForm(app, REVOKE, form)).body.error).toBe('invalid_request')
    expect((await revoke('x', { client_id: 'other' })).body.error).toBe('invalid_client')
  })
})

test('a workspace at its limit of keys cannot approve a device, but can deny it', async () => {
  const { tenantId } = await app.newWorkspace()
  const person = await joinAs(app, { tenantId, role: 'viewer' })
  await insertKeys(app, tenantId, 200)
  const { user_code } = await askForCode(app)
  const refused = await decide(app, person.access, user_code)
  expect([refused.status, refused.body.error?.code]).toEqual([409, 'conflict'])
  expect((await decide(app, person.access, user_code, { decision: 'deny' })).status).toBe(200)
  const { user_code: forSession } = await askForCode(app, { scope: 'session' })
  expect((await decide(app, person.access, forSession)).status).toBe(200)
})

test('an approved device gets no token after its approver signs out everywhere or changes the password', async () => {
  const { tenantId } = await app.newWorkspace()
  const person = await joinAs(app, { tenantId })
  const passwords = { current_password: PASSWORD, new_password: `${PASSWORD} anew` }
  const endings = [
    ['POST', '/api/v1/app/session/password', passwords],
    ['DELETE', '/api/v1/app/sessions', undefined],
  ] as const
  for (const [method, path, body] of endings) {
    const { device_code, user_code } = await askForCode(app, { scope: 'session' })
    expect((await decide(app, person.access, user_code)).status).toBe(200)
    expect(
      (await app.send(method, path, { key: person.access, ...(body ? { body } : {}) })).status,
    ).toBe(200)
    expect((await askForToken(app, device_code)).body.error).toBe('access_denied')
  }
})
