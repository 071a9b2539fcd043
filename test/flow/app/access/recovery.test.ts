/** People who have lost their password: the link that an operator prints for them, and its page. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { resetByOperator } from '#ops/operator/admin/recovery'
import { createVisitor } from '#test/support/http/visitor'
import {
  acceptInvitation,
  forgetAttempts,
  inviteTo,
  joinAs,
  PASSWORD,
  signIn,
  tokenIn,
} from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp()

beforeEach(() => forgetAttempts(app))

const NEXT = 'quite another password'
const print = (email: string, id?: string) =>
  resetByOperator({ db: app.workplace.db, publicUrl: app.url }, { email, id })
const reset = (token: string, new_password = NEXT) =>
  app.send('POST', '/api/v1/app/person/reset', { key: null, body: { token, new_password } })
const me = (key: string) => app.send('GET', '/api/v1/app/person', { key })
/** Joins by an invitation for this email, which proves the address. */
const joinProven = async (email: string) => {
  const { session } = (
    await acceptInvitation(app, { token: await inviteTo(app, { role: 'editor', email }) })
  ).body
  return { personId: session.person.id as string, access: session.access_token as string }
}

describe('a reset link', () => {
  test('is printed for one account, and works once', async () => {
    const { email, personId, access } = await joinAs(app)
    const link = await print(email.toUpperCase())
    expect(link).toMatchObject({
      person_id: personId,
      email,
      email_status: 'unverified',
      workspaces: ['Test'],
    })
    const remaining = link.expires_at.getTime() - Date.now()
    expect([remaining > 3_500_000, remaining <= 3_600_000]).toEqual([true, true])
    const done = await reset(tokenIn(link.url))
    expect([done.status, done.body.reset]).toEqual([
      200,
      { email, signed_out: 1, revoked_keys: 0, keys_left: 0 },
    ])
    expect([(await me(access)).status, (await signIn(app, email, PASSWORD)).status]).toEqual([
      401, 401,
    ])
    const { body } = await signIn(app, email, NEXT)
    expect(body.session.person).toMatchObject({ id: personId, email_status: 'verified' })
    expect((await reset(tokenIn(link.url), 'a third password')).status).toBe(404)
    expect((await signIn(app, email, NEXT)).status).toBe(201)
    const audited =
      await app.owner`select operation, actor_kind from audit where ref_id = ${personId}
        and operation like '%eset%' order by id`
    expect(audited.map((row) => ({ ...row }))).toEqual([
      { operation: 'operator.person.reset', actor_kind: 'system' },
      { operation: 'app.person.resetPassword', actor_kind: 'person' },
    ])
  })

  test('is void once another is printed, or after an hour', async () => {
    const { email, personId } = await joinAs(app)
    const [first, second] = [await print(email), await print(email)]
    expect((await reset(tokenIn(first.url))).status).toBe(404)
    await app.owner`update person_reset set expires_at = now() where person_id = ${personId}`
    expect((await reset(tokenIn(second.url))).status).toBe(404)
    expect((await signIn(app, email, PASSWORD)).status).toBe(201)
  })

  test('is stored as its hash only', async () => {
    const { email } = await joinAs(app)
    const token = tokenIn((await print(email)).url)
    const rows = await app.owner`select to_jsonb(r)::text as text from person_reset r union all
        select to_jsonb(a)::text from audit a`
    expect(rows.length).toBeGreaterThan(1)
    for (const { text } of rows) expect(text).not.toContain(token)
  })

  test('enforces the rules for new passwords, and stays valid when they refuse one', async () => {
    const { email } = await joinAs(app)
    const token = tokenIn((await print(email)).url)
    const weak = await reset(token, 'password123')
    expect([weak.status, weak.body.error?.details?.[0]?.path]).toEqual([400, 'new_password'])
    expect((await reset(token)).status).toBe(200)
  })

  test('is not printed for an unknown address, or for one of several accounts without naming which', async () => {
    const nobody = print('nobody.at.all@example.com')
    expect(await nobody.catch((error) => [error.code, error.message])).toEqual([
      'not_found',
      'no account has the email nobody.at.all@example.com',
    ])
    const email = 'two.of.them@example.com'
    const first = await joinAs(app, { email })
    const { tenantId } = await app.newWorkspace()
    const body = {
      token: await inviteTo(app, { tenantId }),
      email,
      password: NEXT,
      delivery: 'body',
    }
    const { person } = (
      await app.send('POST', '/api/v1/app/invitations/accept', { key: null, body })
    ).body.session
    const message = await print(email).catch((error) => error.message)
    for (const id of [first.personId, person.id]) expect(message).toContain(id)
    const link = await print(email, person.id)
    expect((await reset(tokenIn(link.url), 'of the second one')).status).toBe(200)
    expect((await me(first.access)).body.person).toMatchObject({
      email: null,
      email_status: 'lost',
      former_email: email,
    })
    expect((await signIn(app, email, 'of the second one')).body.session.person.id).toBe(person.id)
    const back = await print('another.address@example.com', first.personId)
    expect((await reset(tokenIn(back.url), 'of the first one')).body.reset.email).toBe(
      'another.address@example.com',
    )
    expect(
      (await signIn(app, 'another.address@example.com', 'of the first one')).body.session.person.id,
    ).toBe(first.personId)
  })

  test('revokes the keys of an account with an unproven email, and keeps those of a proven one', async () => {
    const make = (key: string) =>
      app.send('POST', '/api/v1/app/keys', { key, body: { name: 'k', scopes: ['api:read'] } })
    const unproven = await joinAs(app, { email: 'unproven@example.com' })
    const theirs = (await make(unproven.access)).body.api_key
    expect((await reset(tokenIn((await print(unproven.email)).url))).body.reset).toMatchObject({
      revoked_keys: 1,
      keys_left: 0,
    })
    expect((await app.send('GET', 'overview', { key: theirs })).status).toBe(401)
    const proven = await joinProven('proven@example.com')
    const own = (await make(proven.access)).body.api_key
    expect(
      (await reset(tokenIn((await print('proven@example.com')).url))).body.reset,
    ).toMatchObject({ revoked_keys: 0, keys_left: 1 })
    expect((await app.send('GET', 'overview', { key: own })).status).toBe(200)
  })

  test('undoes what others did to the account: guesses at the old password no longer lock its owner out', async () => {
    const { email } = await joinAs(app)
    for (let tries = 0; tries < 11; tries++) await signIn(app, email, 'a guess at it')
    expect((await signIn(app, email, PASSWORD)).status).toBe(429)
    await reset(tokenIn((await print(email)).url))
    expect((await signIn(app, email, NEXT)).status).toBe(201)
  })

  test('tokens can be guessed 30 times in a quarter of an hour', async () => {
    const { email } = await joinAs(app)
    const token = tokenIn((await print(email)).url)
    for (let tries = 0; tries < 30; tries++)
      expect((await reset(`rst_${String(tries).padStart(32, 'x')}`)).status).toBe(404)
    const refused = await reset(token)
    expect([refused.status, refused.body.error?.message]).toEqual([429, 'rate_limited:reset'])
    await forgetAttempts(app)
    expect((await reset(token)).status).toBe(200)
  })
})

describe('the page of a reset link', () => {
  test('can be viewed without using the link, by previews and by people, and sets the password', async () => {
    const { email } = await joinAs(app)
    const { url } = await print(email)
    const token = tokenIn(url)
    const visitor = createVisitor(app)
    for (let times = 0; times < 3; times++) {
      const { status, text } = await visitor.get(`/reset?token=${token}`)
      expect([status, text.includes(email)]).toEqual([200, true])
      expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
    }
    const weak = await visitor.send('/reset', { token, new_password: 'short' })
    expect([weak.status, weak.text]).toEqual([
      400,
      expect.stringContaining('<a href="#new_password">New password must have at least 10'),
    ])
    expect(weak.text).not.toContain('value="short"')
    const done = await visitor.send('/reset', { token, new_password: NEXT })
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('Password changed')])
    expect((await signIn(app, email, NEXT)).status).toBe(201)
    const again = await visitor.get(`/reset?token=${token}`)
    expect([again.status, again.text]).toEqual([
      404,
      expect.stringContaining('This link is no longer valid'),
    ])
  })
})
