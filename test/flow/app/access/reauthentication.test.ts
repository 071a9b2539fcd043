/** Actions that outlast a session of the command line need the password again. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { approvedToken, forgetAttempts, joinAs, PASSWORD } from '#test/support/people'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()
beforeEach(() => forgetAttempts(app))

/** An owner with a signed-in command line. */
const commandLine = async () => {
  const person = await joinAs(app)
  const { access_token: key } = await approvedToken(app, person, { scope: 'session' })
  const [row] = await app.owner`select id from session where person_id = ${person.personId}
      and kind = 'command_line'`
  return { ...person, key, sessionId: row!.id as string }
}
const agePassword = (sessionId: string) =>
  app.owner`update session set password_at = now() - interval '11 minutes' where id = ${sessionId}`
const send = (key: string, method: string, path: string, body: object, headers = {}) =>
  app.send(method, `/api/v1/app/${path}`, { key, body, headers })
const confirm = (key: string, current_password = PASSWORD) =>
  send(key, 'POST', 'session/confirm', { current_password })
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

/** Actions that outlast the session, and similar ones that do not. */
type Action = [method: string, path: string, body: object]
const actions = async (): Promise<Record<'lasting' | 'passing', Action[]>> => {
  const { personId } = await signedIn(app, app.tenantId, 'editor')
  return {
    lasting: [
      ['POST', 'keys', { name: 'k', scopes: ['api:read'] }],
      ['POST', 'keys', { name: 'k', scopes: ['api:read'], expires_at: inDays(36_000) }],
      ['POST', 'invitations', { role: 'owner' }],
      ['PUT', `members/${personId}`, { role: 'owner' }],
    ],
    passing: [
      ['POST', 'keys', { name: 'k', scopes: ['api:read'], expires_at: inDays(1) }],
      ['POST', 'invitations', { role: 'editor' }],
      ['PUT', `members/${personId}`, { role: 'viewer' }],
    ],
  }
}

describe('a session of the command line', () => {
  test('makes neither lasting keys nor owners until its person enters the password again, if that was long ago', async () => {
    const { key, sessionId } = await commandLine()
    await agePassword(sessionId)
    const { lasting, passing } = await actions()
    for (const action of lasting) {
      const { status, body } = await send(key, ...action)
      expect([action, status, body.error]).toMatchObject([
        action,
        403,
        {
          code: 'reauthentication_required',
          details: [{ path: '', message: expect.stringContaining('/api/v1/app/session/confirm') }],
        },
      ])
    }
    for (const action of passing)
      expect([action, (await send(key, ...action)).status < 300]).toEqual([action, true])
    expect((await confirm(key, 'not the password')).status).toBe(401)
    expect((await send(key, 'POST', 'invitations', { role: 'owner' })).status).toBe(403)
    const { body } = await confirm(key)
    const remaining = Date.parse(body.confirmed.until) - Date.now()
    expect([remaining > 590_000, remaining <= 600_000]).toEqual([true, true])
    for (const action of lasting)
      expect([action, (await send(key, ...action)).status < 300]).toEqual([action, true])
  })

  test('inherits the time of the password from the browser that approved it', async () => {
    const fresh = await commandLine()
    expect((await send(fresh.key, 'POST', 'invitations', { role: 'owner' })).status).toBe(201)
    const person = await joinAs(app)
    await agePassword(person.id)
    const { access_token: key } = await approvedToken(app, person, { scope: 'session' })
    expect((await send(key, 'POST', 'invitations', { role: 'owner' })).status).toBe(403)
  })

  test('is refused without using up its Idempotency-Key', async () => {
    const { key, sessionId } = await commandLine()
    await agePassword(sessionId)
    const make = () =>
      send(key, 'POST', 'invitations', { role: 'owner' }, { 'idempotency-key': sessionId })
    expect((await make()).status).toBe(403)
    await confirm(key)
    const made = await make()
    expect([made.status, made.headers.get('idempotency-replayed')]).toEqual([201, null])
  })

  test('allows ten guesses at the password in a quarter of an hour', async () => {
    const { key, sessionId } = await commandLine()
    await agePassword(sessionId)
    for (let tries = 0; tries < 10; tries++)
      expect((await confirm(key, 'a guess')).status).toBe(401)
    expect((await confirm(key)).status).toBe(429)
  })
})

test('a session of a browser needs no second password', async () => {
  const person = await joinAs(app)
  await agePassword(person.id)
  for (const action of (await actions()).lasting)
    expect([action, (await send(person.access, ...action)).status < 300]).toEqual([action, true])
})
