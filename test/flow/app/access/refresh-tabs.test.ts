/** A browser whose tabs refresh at the same time. */
import { describe, expect, test } from 'bun:test'
import { cookieHeader, cookiesOf } from '#test/support/http/cookies'
import { joinAs, signInBrowser } from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp()

const refresh = (cookies: Map<string, string>) =>
  app.send('POST', '/api/v1/app/session/refresh', { key: null, body: {}, headers: { cookie: cookieHeader(cookies), origin: app.url } })
const me = (cookies: Map<string, string>) =>
  app.send('GET', '/api/v1/app/session', { key: null, headers: { cookie: cookieHeader(cookies) } })

const browser = async () => {
  const { email, id, personId } = await joinAs(app)
  const reply = await signInBrowser(app, email)
  return { cookies: cookiesOf(reply), sessionId: reply.body.session.id as string, personId, first: id }
}

const ageSession = (id: string) => app.owner`update session set last_used_at = now() - interval '11 seconds' where id = ${id}`

describe('two tabs that refresh at once', () => {
  test('both continue: one gets both tokens, the other an access token only', async () => {
    const { cookies } = await browser()
    const replies = await Promise.all([refresh(cookies), refresh(cookies)])
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    const names = replies.map((reply) => [...cookiesOf(reply).keys()].sort())
    expect(names.sort((a, b) => a.length - b.length)).toEqual([['tendril'], ['tendril', 'tendril-refresh']])
    for (const reply of replies) {
      expect(reply.body.session).toMatchObject({ access_expires_at: expect.any(String), expires_at: expect.any(String) })
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
    const [audited] = await app.owner`select operation from audit where ref_id = ${sessionId} order by id desc limit 1`
    expect(audited!.operation).toBe('app.session.reused')
  })

  test('end it if the token is two generations old, however recent', async () => {
    const { cookies } = await browser()
    const second = new Map([...cookies, ...cookiesOf(await refresh(cookies))])
    const third = new Map([...second, ...cookiesOf(await refresh(second))])
    expect((await refresh(cookies)).status).toBe(401)
    expect((await me(third)).status).toBe(401)
  })

  test('have no grace if the token is sent in the body', async () => {
    const { access, refresh: token } = await joinAs(app)
    const send = () => app.send('POST', '/api/v1/app/session/refresh', { key: null, body: { refresh_token: token } })
    expect([(await send()).status, (await send()).status]).toEqual([200, 401])
    expect((await app.send('GET', '/api/v1/app/session', { key: access })).status).toBe(401)
  })

  test('end the session if both send it in the body at once; the first may find it ended before its own answer', async () => {
    const { access, refresh: token } = await joinAs(app)
    const send = () => app.send('POST', '/api/v1/app/session/refresh', { key: null, body: { refresh_token: token } })
    const statuses = (await Promise.all([send(), send()])).map(({ status }) => status)
    expect([
      [200, 401],
      [401, 401],
    ]).toContainEqual(statuses.sort())
    expect((await app.send('GET', '/api/v1/app/session', { key: access })).status).toBe(401)
  })
})
