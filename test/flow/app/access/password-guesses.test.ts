/** Guesses at the password of an account, and at those of many accounts from one address. */
import { beforeEach, expect, test } from 'bun:test'
import { testApp } from '#test/support/app'
import { cookieHeader, cookiesOf } from '#test/support/http/cookies'
import { forgetAttempts, joinAs, PASSWORD } from '#test/support/people'
import { useApp } from '#test/support/use'

const env = { TRUSTED_PROXIES: '127.0.0.1' }
const app = useApp({ env })
beforeEach(() => forgetAttempts(app))

type Server = Pick<typeof app, 'send'>
const signIn = async (
  server: Server,
  address: string,
  given: { email: string; password: string; cookie?: string },
) => {
  const { cookie, ...body } = given
  const headers = { 'x-forwarded-for': address, ...(cookie === undefined ? {} : { cookie }) }
  return await server.send('POST', '/api/v1/app/session', { key: null, body, headers })
}
const guesses = async (server: Server, address: string, accounts: number, from = 0) => {
  const statuses: number[] = []
  for (let account = from; account < from + accounts; account++)
    statuses.push(
      (
        await signIn(server, address, {
          email: `account-${account}@example.com`,
          password: 'a guess',
        })
      ).status,
    )
  return statuses
}

test('guesses over sixty accounts from one address are stopped after thirty, in its whole network and at every server', async () => {
  const { email } = await joinAs(app)
  expect(await guesses(app, '2001:db8:0:7::1', 20)).toEqual(new Array(20).fill(401))
  await using other = await testApp({ database: app.options, env })
  expect(await guesses(other, '2001:db8:0:7:ffff::9', 40, 20)).toEqual([
    ...new Array(10).fill(401),
    ...new Array(30).fill(429),
  ])
  const refused = await signIn(app, '2001:db8:0:7::1', { email, password: PASSWORD })
  expect([refused.status, refused.body.error?.message]).toEqual([429, 'rate_limited:sign_in'])
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(600)
  expect((await signIn(app, '2001:db8:0:8::1', { email, password: PASSWORD })).status).toBe(201)
})

test('right passwords do not count, and a browser that is known goes on', async () => {
  const { email } = await joinAs(app)
  const known = await signIn(app, '203.0.113.5', { email, password: PASSWORD })
  const cookie = cookieHeader(cookiesOf(known))
  for (let times = 0; times < 31; times++)
    expect((await signIn(app, '203.0.113.5', { email, password: PASSWORD })).status).toBe(201)
  expect((await guesses(app, '203.0.113.5', 31)).at(-1)).toBe(429)
  expect((await signIn(app, '203.0.113.5', { email, password: PASSWORD })).status).toBe(429)
  expect((await signIn(app, '203.0.113.5', { email, password: PASSWORD, cookie })).status).toBe(201)
})

test('a header of somebody who is no named proxy gives no further guesses', async () => {
  await using direct = await testApp({ database: app.options })
  const statuses: number[] = []
  for (let account = 0; account < 31; account++)
    statuses.push(...(await guesses(direct, `203.0.113.${account}`, 1, account)))
  expect(statuses).toEqual([...new Array(30).fill(401), 429])
})

const WRONG = 'not the password'

test('an account takes ten wrong passwords, then none for a while, whether or not it exists', async () => {
  const { email } = await joinAs(app)
  for (const account of [email, 'nobody@example.com']) {
    for (let tries = 0; tries < 10; tries++)
      expect((await signIn(app, '203.0.113.9', { email: account, password: WRONG })).status).toBe(
        401,
      )
    const refused = await signIn(app, '203.0.113.9', { email: account, password: PASSWORD })
    expect([refused.status, refused.body.error?.message]).toEqual([429, 'rate_limited:sign_in'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60)
  }
})

test('wrong passwords alone are counted', async () => {
  const { email } = await joinAs(app)
  await forgetAttempts(app)
  expect((await signIn(app, '203.0.113.9', { email, password: WRONG })).status).toBe(401)
  for (let times = 0; times < 3; times++)
    expect((await signIn(app, '203.0.113.9', { email, password: PASSWORD })).status).toBe(201)
  expect((await app.owner`select used from throttle`).map(({ used }) => used)).toEqual([1, 1])
})

test('all addresses of one IPv6 network count as one for an account', async () => {
  const from = async (address: string) =>
    (
      await signIn(app, `203.0.113.9, ${address}`, {
        email: 'somebody@example.com',
        password: WRONG,
      })
    ).status
  for (let host = 1; host <= 10; host++)
    expect(await from(`2001:db8:0:1:${host}::${host}`)).toBe(401)
  expect([await from('2001:db8:0:1:ffff::1'), await from('2001:db8:0:2::1')]).toEqual([429, 401])
})
