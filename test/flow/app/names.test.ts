/** Names and addresses that people read: no character in them hides, reorders or breaks text. */
import { describe, expect, test } from 'bun:test'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { askForCode, inviteTo, joinAs, PASSWORD } from '#test/support/people'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

/** Two of those in test/kernel/unseen.test.ts. */
const STRANGE: [string, string][] = [
  ['\u202e', 'U+202E'],
  ['\n', 'U+000A'],
]

const post = (path: string, key: string | null, body: object) =>
  app.send('POST', `/api/v1/app/${path}`, { key, body })
const put = (path: string, key: string, body: object) =>
  app.send('PUT', `/api/v1/app/${path}`, { key, body })

/** Every operation that takes a name or an email, with the field. */
const ways = async () => {
  const { access: key } = await joinAs(app)
  const token = await inviteTo(app)
  return [
    ['name', (text: string) => put('person', key, { name: text })],
    ['name', (text: string) => put('workspace', key, { name: text })],
    ['name', (text: string) => post('keys', key, { name: text, scopes: ['api:read'] })],
    [
      'name',
      (text: string) =>
        post('invitations/accept', null, {
          token,
          email: 'x@example.com',
          password: PASSWORD,
          name: text,
        }),
    ],
    [
      'name',
      (text: string) =>
        app.send('POST', 'products', { body: { name: text, one_liner: 'One line' } }),
    ],
    [
      'email',
      (text: string) =>
        put('person', key, { email: `${text}@example.com`, current_password: PASSWORD }),
    ],
    [
      'email',
      (text: string) => post('invitations', key, { email: `${text}@example.com`, role: 'viewer' }),
    ],
    [
      'email',
      (text: string) => post('session', null, { email: `${text}@example.com`, password: PASSWORD }),
    ],
  ] as const
}

describe('a name', () => {
  test.each(STRANGE)('cannot contain %j, and the refusal names it', async (character, named) => {
    for (const [path, send] of await ways()) {
      const { status, body } = await send(`Al${character}ice`)
      expect([status, body.error?.details]).toEqual([
        400,
        [{ path, message: expect.stringContaining(`contains ${named},`) }],
      ])
    }
    expect(
      await createWorkspace(app.workplace.db, `Dock${character}side`).catch(
        (error) => error.message,
      ),
    ).toContain(named)
  })

  test('is stored in NFKC form, with the joiners that scripts and emoji need', async () => {
    const { access: key } = await joinAs(app)
    const named = async (name: string) => (await put('person', key, { name })).body.person?.name
    expect(await named('  Ａｌｉｃｅ ﬁ ')).toBe('Alice fi')
    expect(await named('می\u200cخواهم 👩\u200d🚀')).toBe('می\u200cخواهم 👩\u200d🚀')
    const rename = await put('workspace', key, { name: 'Ｄｏｃｋｓｉｄｅ' })
    expect(rename.body.workspace?.name).toBe('Dockside')
    await put('workspace', key, { name: 'Test' })
  })

  test('has at most 160 characters in its stored form', async () => {
    const { access: key } = await joinAs(app)
    const message = 'must have at most 160 characters after NFKC normalisation'
    const long = await put('workspace', key, { name: '\ufdfa'.repeat(9) })
    expect([long.status, long.body.error?.details]).toEqual([400, [{ path: 'name', message }]])
    expect((await put('person', key, { name: '\ufdfa'.repeat(8) })).body.person?.name.length).toBe(
      144,
    )
  })

  test('has something visible', async () => {
    const { access: key } = await joinAs(app)
    for (const name of ['\u200d', '\u3164', ' \u200c ', '\u2800'])
      expect([name, (await put('workspace', key, { name })).status]).toEqual([name, 400])
  })
})

test('an email in full-width letters is the same account', async () => {
  const { email } = await joinAs(app, { email: 'wide@example.com' })
  const wide = 'ｗｉｄｅ@example.com'
  expect(email).not.toBe(wide)
  expect((await post('session', null, { email: wide, password: PASSWORD })).status).toBe(201)
})

test('a handle in full-width letters is the handle that it looks like', async () => {
  const { body } = await app.send('POST', 'targets', {
    body: { handle: '＠ｓｈｉｐｓ＿ｏｎ', category: 'peer' },
  })
  expect([body.error, body.target?.handle]).toEqual([undefined, 'ships_on'])
})

test('a device name is shown in plain letters', async () => {
  const { access: key } = await joinAs(app)
  const { user_code } = await askForCode(app, { device_name: 'Ｌａｐｔｏｐ\u202egnp.exe' })
  const { body } = await app.send('GET', `/api/v1/app/device?user_code=${user_code}`, { key })
  expect(body.request.device_name).toBe('Laptop gnp.exe')
})
