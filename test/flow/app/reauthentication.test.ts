/** What outlasts a session of the command line asks for the password again. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { askForCode, askForToken, decide, joinAs, PASSWORD } from '#test/support/people'
import { signedIn } from '#test/support/session'
import { useApp } from '#test/support/use'

const app = useApp()
beforeEach(async () => {
  await app.owner`delete from throttle`
})

/** An owner whose command line has been let in. */
const commandLine = async () => {
  const person = await joinAs(app)
  const { device_code, user_code } = await askForCode(app, { scope: 'session' })
  await decide(app, person.access, user_code)
  const key = (await askForToken(app, device_code)).body.access_token as string
  const [row] = await app.owner`select id from session where person_id = ${person.personId} and kind = 'command_line'`
  return { ...person, key, sessionId: row!.id as string }
}
const age = (sessionId: string) => app.owner`update session set password_at = now() - interval '11 minutes' where id = ${sessionId}`
const send = (key: string, method: string, path: string, body: object, headers = {}) =>
  app.send(method, `/api/v1/app/${path}`, { key, body, headers })
const confirm = (key: string, current_password = PASSWORD) => send(key, 'POST', 'session/confirm', { current_password })
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

/** By name: what outlasts the session, and what is like it and does not. */
type Deed = [method: string, path: string, body: object]
const deeds = async (): Promise<Record<'lasting' | 'passing', Deed[]>> => {
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
  test('whose password was given long ago makes neither keys that last nor owners before it is given again', async () => {
    const { key, sessionId } = await commandLine()
    await age(sessionId)
    const { lasting, passing } = await deeds()
    for (const deed of lasting) {
      const { status, body } = await send(key, ...deed)
      expect([deed, status, body.error]).toMatchObject([
        deed,
        403,
        { code: 'reauthentication_required', details: [{ path: '', message: expect.stringContaining('/api/v1/app/session/confirm') }] },
      ])
    }
    for (const deed of passing) expect([deed, (await send(key, ...deed)).status < 300]).toEqual([deed, true])
    expect((await confirm(key, 'not the password')).status).toBe(401)
    expect((await send(key, 'POST', 'invitations', { role: 'owner' })).status).toBe(403)
    const { body } = await confirm(key)
    const lasts = Date.parse(body.confirmed.until) - Date.now()
    expect([lasts > 590_000, lasts <= 600_000]).toEqual([true, true])
    for (const deed of lasting) expect([deed, (await send(key, ...deed)).status < 300]).toEqual([deed, true])
  })

  test('takes over when the password was given from the browser that let it in', async () => {
    const fresh = await commandLine()
    expect((await send(fresh.key, 'POST', 'invitations', { role: 'owner' })).status).toBe(201)
    const person = await joinAs(app)
    await age(person.id)
    const { device_code, user_code } = await askForCode(app, { scope: 'session' })
    await decide(app, person.access, user_code)
    const key = (await askForToken(app, device_code)).body.access_token as string
    expect((await send(key, 'POST', 'invitations', { role: 'owner' })).status).toBe(403)
  })

  test('is refused without its Idempotency-Key being used up', async () => {
    const { key, sessionId } = await commandLine()
    await age(sessionId)
    const make = () => send(key, 'POST', 'invitations', { role: 'owner' }, { 'idempotency-key': sessionId })
    expect((await make()).status).toBe(403)
    await confirm(key)
    const made = await make()
    expect([made.status, made.headers.get('idempotency-replayed')]).toEqual([201, null])
  })

  test('guesses at the password no more than ten times in a quarter of an hour', async () => {
    const { key, sessionId } = await commandLine()
    await age(sessionId)
    for (let tries = 0; tries < 10; tries++) expect((await confirm(key, 'a guess')).status).toBe(401)
    expect((await confirm(key)).status).toBe(429)
  })
})

test('a session of a browser is not asked', async () => {
  const person = await joinAs(app)
  await age(person.id)
  for (const deed of (await deeds()).lasting) expect([deed, (await send(person.access, ...deed)).status < 300]).toEqual([deed, true])
})
