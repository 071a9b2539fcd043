/** Which passwords can be chosen, wherever one is set. */
import { describe, expect, test } from 'bun:test'
import { acceptInvitation, inviteTo, joinAs, PASSWORD, signIn } from '#test/support/people'
import { useApp } from '#test/support/use'

const app = useApp()

const EMAIL = 'frederick.long@example.com'
const WEAK: [string, string, RegExp][] = [
  ['ten characters, five of which are spaces around it', '   abcde  ', /at least 10 characters/],
  ['the email', 'Frederick.Long@Example.com', /email address/],
  ['the first part of the email', 'FREDERICK.LONG', /email address/],
  ['a common password', 'password123', /common password/],
  ['a common password in capitals', 'QWERTYUIOP', /common password/],
  ['a common password between spaces', ' 1q2w3e4r5t ', /common password/],
]

describe('a password', () => {
  test.each(WEAK)('cannot be %s', async (_, password, why) => {
    const joined = await acceptInvitation(app, {
      token: await inviteTo(app),
      email: EMAIL,
      password,
    })
    expect([joined.status, joined.body.error?.details]).toEqual([
      400,
      [{ path: 'password', message: expect.stringMatching(why) }],
    ])
  })

  test('cannot be one of these when it replaces another, and the old one stays', async () => {
    const { access, email } = await joinAs(app, { email: 'someone.else@example.com' })
    const change = (new_password: string) =>
      app.send('POST', '/api/v1/app/session/password', {
        key: access,
        body: { current_password: PASSWORD, new_password },
      })
    for (const weak of ['someone.else', email, 'password123', '    abc    ']) {
      const refused = await change(weak)
      expect([weak, refused.status, refused.body.error?.details?.[0]?.path]).toEqual([
        weak,
        400,
        'new_password',
      ])
    }
    expect((await change('  a password of spaces  ')).status).toBe(200)
    expect((await signIn(app, email, 'a password of spaces')).status).toBe(401)
    expect((await signIn(app, email, '  a password of spaces  ')).status).toBe(201)
  })

  test('chosen under older rules still signs in', async () => {
    const { email, personId } = await joinAs(app, { email: 'early@example.com' })
    const hash = await app.workplace.world.identity.passwords.hash('password123', 'test')
    await app.owner`update person set password_hash = ${hash} where id = ${personId}`
    expect((await signIn(app, email, 'password123')).status).toBe(201)
  })
})
