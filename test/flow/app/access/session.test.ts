/** Signing in and out over HTTP, from browsers and from programs, and how a session is renewed. */
import { describe, expect, test } from 'bun:test'
import { cookieHeader, cookiesOf } from '#test/support/http/cookies'
import { inviteTo, PASSWORD } from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp()

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  app.send('POST', `/api/v1/app/${path}`, { key: null, body, headers })

let count = 0
const newEmail = () => `person${++count}@example.com`

/** A person who has just joined, with their tokens. */
const join = async (more: Record<string, unknown> = {}) => {
  const email = newEmail()
  const reply = await post('invitations/accept', {
    token: await inviteTo(app),
    email,
    password: PASSWORD,
    name: 'Ann',
    delivery: 'body',
    ...more,
  })
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)])
  return { email, ...reply.body.session }
}

const me = (key: string | null, headers: Record<string, string> = {}) =>
  app.send('GET', '/api/v1/app/session', { key, headers })

describe('signing in', () => {
  test('sets cookies that scripts cannot read, and puts no token in the body', async () => {
    const { email } = await join()
    const reply = await post('session', { email, password: PASSWORD })
    expect(reply.status).toBe(201)
    expect(reply.text).not.toContain('token')
    const cookies = reply.headers.getSetCookie()
    expect(cookies).toHaveLength(3)
    for (const cookie of cookies) expect(cookie).toContain('HttpOnly')
    expect(
      (await me(null, { cookie: cookieHeader(cookiesOf(reply)) })).body.session.person.email,
    ).toBe(email)
  })
})

test('a page of another origin can neither sign anyone in nor refresh a session', async () => {
  const { email } = await join()
  for (const origin of ['https://evil.example', 'null', 'http://localhost:1']) {
    expect((await post('session', { email, password: PASSWORD }, { origin })).status).toBe(403)
    expect((await post('session/refresh', {}, { origin })).status).toBe(403)
  }
  expect((await post('session', { email, password: PASSWORD }, { origin: app.url })).status).toBe(
    201,
  )
})

describe('a session', () => {
  test('is renewed by refresh tokens, each of which works once; a second use ends it', async () => {
    const { refresh_token: first } = await join()
    const next = await post('session/refresh', { refresh_token: first })
    expect(next.status).toBe(200)
    const { access_token, refresh_token: second } = next.body.session
    expect((await me(access_token)).status).toBe(200)
    expect((await post('session/refresh', { refresh_token: first })).status).toBe(401)
    expect((await me(access_token)).status).toBe(401)
    expect((await post('session/refresh', { refresh_token: second })).status).toBe(401)
    const [audited] =
      await app.owner`select operation from audit where tenant_id = ${app.tenantId} order by id desc
        limit 1`
    expect(audited!.operation).toBe('app.session.reused')
  })

  test('refreshed by cookie, sets cookies only', async () => {
    const { email } = await join()
    const cookie = cookieHeader(cookiesOf(await post('session', { email, password: PASSWORD })))
    const reply = await post('session/refresh', {}, { cookie, origin: app.url })
    expect(reply.text).not.toContain('token')
    expect((await me(null, { cookie: cookieHeader(cookiesOf(reply)) })).status).toBe(200)
  })

  test('is refreshed by cookie from our pages alone: without our origin it is refused, and the token is not spent', async () => {
    const { email } = await join()
    const cookie = cookieHeader(cookiesOf(await post('session', { email, password: PASSWORD })))
    const foreign: Record<string, string>[] = [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]
    for (const headers of foreign)
      expect((await post('session/refresh', {}, { cookie, ...headers })).status).toBe(403)
    expect(
      (await post('session/refresh', {}, { cookie, 'sec-fetch-site': 'same-origin' })).status,
    ).toBe(200)
  })

  test('of a program is refreshed by its token, whatever cookies there are', async () => {
    const { email, refresh_token } = await join()
    const cookie = cookieHeader(cookiesOf(await post('session', { email, password: PASSWORD })))
    expect((await post('session/refresh', { refresh_token }, { cookie })).status).toBe(200)
    expect((await post('session/refresh', {}, {})).status).toBe(401)
  })

  test('ends when its person signs out, in one place or everywhere', async () => {
    const one = await join()
    const other = await post('session', { email: one.email, password: PASSWORD, delivery: 'body' })
    const third = await post('session', { email: one.email, password: PASSWORD, delivery: 'body' })
    expect(
      (await app.send('DELETE', '/api/v1/app/session', { key: one.access_token })).body,
    ).toEqual({ signed_out: 1 })
    expect((await me(one.access_token)).status).toBe(401)
    expect((await me(other.body.session.access_token)).status).toBe(200)
    const all = await app.send('DELETE', '/api/v1/app/sessions', {
      key: other.body.session.access_token,
    })
    expect(all.body).toEqual({ signed_out: 2 })
    for (const reply of [other, third])
      expect((await me(reply.body.session.access_token)).status).toBe(401)
    expect(
      (await post('session/refresh', { refresh_token: third.body.session.refresh_token })).status,
    ).toBe(401)
  })

  test('ends when the password is changed elsewhere', async () => {
    const one = await join()
    const other = await post('session', { email: one.email, password: PASSWORD, delivery: 'body' })
    const change = { current_password: PASSWORD, new_password: 'another password' }
    const changed = await app.send('POST', '/api/v1/app/session/password', {
      key: one.access_token,
      body: change,
    })
    expect(changed.body).toEqual({ signed_out: 1 })
    expect([
      (await me(one.access_token)).status,
      (await me(other.body.session.access_token)).status,
    ]).toEqual([200, 401])
    expect((await post('session', { email: one.email, password: PASSWORD })).status).toBe(401)
    expect((await post('session', { email: one.email, password: 'another password' })).status).toBe(
      201,
    )
  })

  test('is listed with the others of its person, and can end one of them', async () => {
    const one = await join()
    await post('session', { email: one.email, password: PASSWORD })
    const listed = await app.send('GET', '/api/v1/app/sessions?limit=1', { key: one.access_token })
    expect(listed.body.sessions).toHaveLength(1)
    const rest = await app.send('GET', `/api/v1/app/sessions?cursor=${listed.body.next_cursor}`, {
      key: one.access_token,
    })
    expect(rest.body).toMatchObject({ sessions: [{ current: true }], next_cursor: null })
    const { id } = listed.body.sessions[0]
    const stranger = await join()
    expect(
      (await app.send('DELETE', `/api/v1/app/sessions/${id}`, { key: stranger.access_token }))
        .status,
    ).toBe(404)
    expect(
      (await app.send('DELETE', `/api/v1/app/sessions/${id}`, { key: one.access_token })).body,
    ).toEqual({ signed_out: 1 })
  })

  test('replaces the oldest when its person has a hundred, and removes those that ended long ago', async () => {
    const { email, person, access_token } = await join()
    const addSessions = (
      count: number,
      ends: string,
    ) => app.owner`insert into session (id, tenant_id, person_id, kind, expires_at)
      select ('fffffff' || substr(gen_random_uuid()::text, 8))::uuid, ${app.tenantId}, ${person.id},
        'browser', now() + ${ends}::interval
      from generate_series(1, ${count})`
    await addSessions(99, '1 day')
    await addSessions(10, '-31 days')
    await addSessions(1, '-29 days')
    expect((await me(access_token)).status).toBe(200)
    expect((await post('session', { email, password: PASSWORD })).status).toBe(201)
    expect((await me(access_token)).status).toBe(401)
    const [rows] = await app.owner`select count(*) filter (where revoked_at is null
        and expires_at > now())::int as living,
      count(*) filter (where expires_at < now())::int as ended from session
        where person_id = ${person.id}`
    expect(rows).toEqual({ living: 100, ended: 1 })
    const [audited] =
      await app.owner`select count(*)::int as ends from audit where actor_id = ${person.id}
        and operation = 'app.sessions.tooMany'`
    expect(audited!.ends).toBe(1)
  })

  test('switches to another workspace of its person, and to no other', async () => {
    const { access_token: key, email } = await join()
    const { tenantId } = await app.newWorkspace()
    const move = (workspace_id: string) =>
      app.send('POST', '/api/v1/app/session/workspace', { key, body: { workspace_id } })
    expect((await move(tenantId)).status).toBe(404)
    await post('invitations/accept', {
      token: await inviteTo(app, { tenantId }),
      email,
      password: PASSWORD,
    })
    expect((await move(tenantId)).body.session.workspace.id).toBe(tenantId)
    await app.send('PUT', 'profile', { key, body: { goal: 'There' } })
    const [row] =
      await app.owner`select data->>'goal' as goal from profile where tenant_id = ${tenantId}`
    expect(row!.goal).toBe('There')
  })

  test('by cookie changes nothing when another page sends the request', async () => {
    const { email } = await join()
    const cookie = cookieHeader(cookiesOf(await post('session', { email, password: PASSWORD })))
    const put = (headers: Record<string, string>) =>
      app.send('PUT', 'profile', {
        key: null,
        body: { goal: 'x' },
        headers: { cookie, ...headers },
      })
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'same-site' },
    ])
      expect([(await put(headers as never)).status, headers]).toEqual([403, headers])
    expect((await put({ origin: app.url })).status).toBe(200)
    expect((await put({ 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  })
})
