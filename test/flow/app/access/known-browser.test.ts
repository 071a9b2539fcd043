/**
 * A browser in which someone has signed in before, while others guess at their password; and
 * proxies that are not trusted.
 */

import { beforeEach, describe, expect, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { soleKey } from '#kernel/secret-keys'
import { createTokens } from '#port/tokens'
import { type Reply, testApp } from '#test/support/app'
import { TEST_SECRET } from '#test/support/database/db'
import { cookieHeader, cookiesOf } from '#test/support/http/cookies'
import { forgetAttempts, inviteTo, joinAs, PASSWORD, signInBrowser } from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp()
beforeEach(() => forgetAttempts(app))

const cookieOf = (reply: Reply): string =>
  `tendril-browser=${cookiesOf(reply).get('tendril-browser')}`
const guess = async (email: string, times: number, cookie?: string) => {
  const statuses: number[] = []
  for (let tries = 0; tries < times; tries++)
    statuses.push((await signInBrowser(app, email, `guess ${tries}`, cookie)).status)
  return statuses
}

/** A person, and the cookie of the browser in which they signed in. */
const knownPerson = async () => {
  const { email, personId } = await joinAs(app)
  return { email, personId, cookie: cookieOf(await signInBrowser(app, email, PASSWORD)) }
}

test('a proxy that appends the port of each connection gives nobody more guesses', async () => {
  await using behind = await testApp({ env: { TRUSTED_PROXIES: '127.0.0.1' } })
  const from = (port: number) => ({ 'x-forwarded-for': `203.0.113.7:${port}` })
  const body = { email: 'somebody@example.com', password: 'a guess' }
  const statuses: number[] = []
  for (let port = 5_000; port < 5_011; port++)
    statuses.push(
      (await behind.send('POST', '/api/v1/app/session', { key: null, body, headers: from(port) }))
        .status,
    )
  expect(statuses).toEqual([...new Array<number>(10).fill(401), 429])
})

describe('a browser in which someone signed in before', () => {
  test("is not locked out by others' wrong guesses, which lock out every other browser", async () => {
    const { email, cookie } = await knownPerson()
    expect((await guess(email, 11)).at(-1)).toBe(429)
    expect((await signInBrowser(app, email, PASSWORD)).status).toBe(429)
    expect((await signInBrowser(app, email, PASSWORD, cookie)).status).toBe(201)
    expect((await signInBrowser(app, email, 'mistyped', cookie)).status).toBe(401)
    expect((await signInBrowser(app, email, PASSWORD, cookie)).status).toBe(201)
  })

  test('is not locked out by guesses at other accounts from its own address either', async () => {
    const { email, cookie } = await knownPerson()
    await guess('nobody@example.com', 1)
    await app.owner`update throttle set used = 100`
    expect((await signInBrowser(app, email, PASSWORD)).status).toBe(429)
    expect((await signInBrowser(app, email, PASSWORD, cookie)).status).toBe(201)
  })

  test('has ten attempts of its own, which signing in again does not multiply', async () => {
    const { email, cookie } = await knownPerson()
    const again = cookieOf(await signInBrowser(app, email, PASSWORD, cookie))
    expect(await guess(email, 5, cookie)).not.toContain(429)
    expect(await guess(email, 6, again)).toEqual([401, 401, 401, 401, 401, 429])
    expect((await signInBrowser(app, email, PASSWORD, cookie)).status).toBe(429)
  })

  test('has them for its own account only', async () => {
    const [one, other] = [await knownPerson(), await knownPerson()]
    await guess(other.email, 11)
    expect((await signInBrowser(app, other.email, PASSWORD, one.cookie)).status).toBe(429)
  })

  test('has none for the owner of an address on which its account squats', async () => {
    const owner = await joinAs(app)
    const { tenantId } = await app.newWorkspace()
    const body = {
      token: await inviteTo(app, { tenantId }),
      email: owner.email,
      password: 'the password of a squatter',
    }
    const squatter = cookieOf(
      await app.send('POST', '/api/v1/app/invitations/accept', { key: null, body }),
    )
    await guess(owner.email, 11)
    expect((await signInBrowser(app, owner.email, PASSWORD, squatter)).status).toBe(401)
    expect(
      (await signInBrowser(app, owner.email, 'the password of a squatter', squatter)).status,
    ).toBe(201)
  })

  test('is known for a year, and only by what we signed', async () => {
    const { email, personId, cookie } = await knownPerson()
    await guess(email, 11)
    const tokens = createTokens(soleKey(TEST_SECRET))
    const forged = createTokens(soleKey(Buffer.alloc(32, 'other'))).browser(
      { personId },
      new Date(Date.now() + 1_000_000),
    )
    const expired = tokens.browser({ personId }, new Date(Date.now() - 1_000))
    for (const token of [
      forged,
      expired,
      'br_',
      cookie.replace('tendril-browser=', '').slice(0, -1),
    ])
      expect([
        token,
        (await signInBrowser(app, email, PASSWORD, `tendril-browser=${token}`)).status,
      ]).toEqual([token, 429])
    expect(
      (await app.send('GET', '/api/v1/app/session', { key: null, headers: { cookie } })).status,
    ).toBe(401)
  })

  test('keeps a cookie that scripts cannot read and other sites do not send, also after signing out', async () => {
    const { email } = await joinAs(app)
    const reply = await signInBrowser(app, email, PASSWORD)
    const set = reply.headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith('tendril-browser='))!
    for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/;']) expect(set).toContain(part)
    expect(Number(/Max-Age=(\d+)/.exec(set)![1])).toBeGreaterThan(364 * 86_400)
    const headers = { cookie: cookieHeader(cookiesOf(reply)), origin: app.url }
    const out = await app.send('DELETE', '/api/v1/app/session', { key: null, headers })
    expect([...cookiesOf(out).keys()]).not.toContain('tendril-browser')
  })
})

describe('X-Forwarded-For', () => {
  const warnings = async (env: Record<string, string>) => {
    const lines: { msg: string }[] = []
    const log = createLog('warn', { write: (line) => void lines.push(JSON.parse(line)) })
    await using proxied = await testApp({ database: app.options, env, log })
    for (let times = 0; times < 3; times++)
      await proxied.send('GET', '/health', {
        key: null,
        headers: { 'x-forwarded-for': '203.0.113.9' },
      })
    return lines.filter(({ msg }) => msg.includes('TRUSTED_PROXIES'))
  }

  test('logs one warning when it arrives and no proxy is trusted', async () => {
    expect(await warnings({})).toHaveLength(1)
  })

  test('logs no warning where a proxy is trusted', async () => {
    expect(await warnings({ TRUSTED_PROXIES: '127.0.0.1' })).toEqual([])
  })
})
