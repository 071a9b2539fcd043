/** A browser whose tabs refresh at the same time, by requests or while its person reads pages. */

import { describe, expect, test } from 'bun:test'
import { cookieHeader, cookiesOf } from '#test/support/http/cookies'
import { ageAccess, createVisitor, signedInVisitor } from '#test/support/http/visitor'
import { joinAs, signInBrowser } from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp()

const refresh = (cookies: Map<string, string>) =>
  app.send('POST', '/api/v1/app/session/refresh', {
    key: null,
    body: {},
    headers: { cookie: cookieHeader(cookies), origin: app.url },
  })
const me = (cookies: Map<string, string>) =>
  app.send('GET', '/api/v1/app/session', { key: null, headers: { cookie: cookieHeader(cookies) } })

const browser = async () => {
  const { email, id, personId } = await joinAs(app)
  const reply = await signInBrowser(app, email)
  return {
    cookies: cookiesOf(reply),
    sessionId: reply.body.session.id as string,
    personId,
    first: id,
  }
}

const ageSession = (id: string) =>
  app.owner`update session set last_used_at = now() - interval '11 seconds' where id = ${id}`

describe('two tabs that refresh at once', () => {
  test('both continue: one gets both tokens, the other an access token only', async () => {
    const { cookies } = await browser()
    const replies = await Promise.all([refresh(cookies), refresh(cookies)])
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    const names = replies.map((reply) => [...cookiesOf(reply).keys()].sort())
    expect(names.sort((a, b) => a.length - b.length)).toEqual([
      ['tendril'],
      ['tendril', 'tendril-refresh'],
    ])
    for (const reply of replies) {
      expect(reply.body.session).toMatchObject({
        access_expires_at: expect.any(String),
        expires_at: expect.any(String),
      })
      expect(reply.text).not.toContain('token')
    }
    const jar = new Map([...cookies, ...cookiesOf(replies[0]!), ...cookiesOf(replies[1]!)])
    expect([(await me(jar)).status, (await refresh(jar)).status]).toEqual([200, 200])
  })

  test('end the session if the second refreshes later', async () => {
    const { cookies, sessionId } = await browser()
    const next = new Map([...cookies, ...cookiesOf(await refresh(cookies))])
    await ageSession(sessionId)
    expect((await refresh(cookies)).status).toBe(401)
    expect((await me(next)).status).toBe(401)
    const [audited] =
      await app.owner`select operation from audit where ref_id = ${sessionId} order by id desc
        limit 1`
    expect(audited!.operation).toBe('app.session.reused')
  })

  test('end it if the token is two generations old, however recent', async () => {
    const { cookies } = await browser()
    const second = new Map([...cookies, ...cookiesOf(await refresh(cookies))])
    const third = new Map([...second, ...cookiesOf(await refresh(second))])
    expect((await refresh(cookies)).status).toBe(401)
    expect((await me(third)).status).toBe(401)
  })

  test('end the session if both send it in the body at once; the first may find it ended before its own answer', async () => {
    const { access, refresh: token } = await joinAs(app)
    const send = () =>
      app.send('POST', '/api/v1/app/session/refresh', { key: null, body: { refresh_token: token } })
    const statuses = (await Promise.all([send(), send()])).map(({ status }) => status)
    expect([
      [200, 401],
      [401, 401],
    ]).toContainEqual(statuses.sort())
    expect((await app.send('GET', '/api/v1/app/session', { key: access })).status).toBe(401)
  })
})

const CONTINUE = '/api/v1/app/session/continue'
const visitor = () => createVisitor(app)

describe('a page whose access token is too old', () => {
  test('renews the session, and returns to the page', async () => {
    const { one, email } = await signedInVisitor(app)
    const refresh = one.cookies.get('tendril-refresh')!.value
    ageAccess(one)
    const to = (await one.get('/device?code=BCDF-GHJK')).location!
    expect(to).toBe(`${CONTINUE}?next=${encodeURIComponent('/device?code=BCDF-GHJK')}`)
    expect((await one.get(to)).location).toBe('/device?code=BCDF-GHJK')
    const { text } = await one.get('/')
    expect(text).toContain(email)
    expect(text).toContain('Owners can download private conversations with the agent')
    expect(one.cookies.get('tendril-refresh')!.value).not.toBe(refresh)
  })

  test('renews it in three tabs at once, one of which rotates the refresh token', async () => {
    const { one, email } = await signedInVisitor(app)
    ageAccess(one)
    const tabs = Array.from({ length: 3 }, () => {
      const tab = createVisitor(app)
      for (const [name, cookie] of one.cookies) tab.cookies.set(name, cookie)
      return tab
    })
    const replies = await Promise.all(tabs.map((tab) => tab.get(`${CONTINUE}?next=/`)))
    expect(replies.map(({ location }) => location)).toEqual(['/', '/', '/'])
    expect(replies.map(({ headers }) => headers.getSetCookie().length).sort()).toEqual([1, 1, 2])
    for (const tab of tabs) expect((await tab.get('/')).text).toContain(email)
  })

  test('ends the session when a refresh token is used again later, as with the API', async () => {
    const { one } = await signedInVisitor(app)
    const thief = createVisitor(app)
    for (const [name, cookie] of one.cookies) thief.cookies.set(name, cookie)
    ageAccess(one)
    await one.get(`${CONTINUE}?next=/`)
    await app.owner`update session set last_used_at = last_used_at - interval '11 seconds'
      where revoked_at is null`
    expect((await thief.get(`${CONTINUE}?next=/`)).location).toBe('/sign-in')
    expect((await one.get('/')).location).toBe(CONTINUE)
    expect((await one.get(CONTINUE)).location).toBe('/sign-in')
  })

  test('is retried once for a browser that withheld the refresh token, and then needs a sign-in', async () => {
    const one = visitor()
    const first = await one.get(`${CONTINUE}?next=/device`)
    expect([first.status, first.headers.get('refresh')]).toEqual([
      200,
      `0; url=${CONTINUE}?again=1&next=%2Fdevice`,
    ])
    expect((await one.get(`${CONTINUE}?again=1&next=%2Fdevice`)).location).toBe(
      '/sign-in?next=%2Fdevice',
    )
  })
})
