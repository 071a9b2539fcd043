/** The command line of a person at a real server. */
import { beforeAll, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorTable } from '#kernel/errors'
import { type CliOptions, cli } from '#test/support/cli/host'
import { temporaryFolder } from '#test/support/folder'
import { decide, type Joined, joinAs, PASSWORD } from '#test/support/people'
import { jsonLines } from '#test/support/texts/lines'
import { useApp, useEach } from '#test/support/use'

let owner: Joined
const app = useApp()
beforeAll(async () => {
  owner = await joinAs(app)
})
const folder = useEach(temporaryFolder)

const run = (argv: string[], options: CliOptions = {}) =>
  cli([...argv, '--api-url', app.url], { home: folder.path, ...options })

/** Decides on the code as soon as the command line shows it. */
const deciding = (decision: 'approve' | 'deny'): CliOptions => ({
  async meanwhile({ err }) {
    const [code] = /[A-Z]{4}-[A-Z]{4}/.exec(err) ?? []
    const { status } = await decide(app, owner.access, code!, { decision })
    expect(status).toBe(200)
  },
})

const profile = async () =>
  JSON.parse(await readFile(join(folder.path, '.tendril', 'config.json'), 'utf8')).profiles.default

test('an approved device gets a key, which logging out revokes', async () => {
  const { code, out } = await run(['login'], deciding('approve'))
  expect([code, out]).toEqual([0, `logged in to Test at ${app.url}, profile default\n`])
  expect((await profile()).workspace).toEqual({ id: app.tenantId, name: 'Test' })
  expect(JSON.parse((await run(['whoami', '--json'])).out)).toMatchObject({
    workspace: { name: 'Test' },
    connection: { connected: true },
  })
  expect((await run(['automation', 'pause-all'])).code).toBe(0)
  expect(
    await app.owner`select surface from audit where operation = 'growth.automation.pauseAll'`,
  ).toMatchObject([{ surface: 'cli' }])
  const { api_key: key } = await profile()
  expect((await run(['logout'])).code).toBe(0)
  expect((await app.send('GET', 'connection', { key })).status).toBe(401)
})

test('a denied device gets no key', async () => {
  const { code, err } = await run(['login'], deciding('deny'))
  expect([code, err.includes('the request was denied in the browser')]).toEqual([
    errorTable.unauthenticated.exit,
    true,
  ])
  await expect(profile()).rejects.toThrow('ENOENT')
})

test('operations for people need a session, and the key beside it stays', async () => {
  await run(['login'], deciding('approve'))
  const before = await run(['members', 'list'])
  expect([before.code, before.err.includes('tendril login --session')]).toEqual([
    errorTable.unauthenticated.exit,
    true,
  ])
  expect((await run(['login', '--session'], deciding('approve'))).code).toBe(0)
  const { members } = JSON.parse((await run(['members', 'list', '--json'])).out)
  expect(members).toEqual([expect.objectContaining({ email: owner.email, role: 'owner' })])
  const { api_key: key, session } = await profile()
  expect([key, session.token]).toEqual([
    expect.stringMatching(/^ak_/),
    expect.stringMatching(/^ey/),
  ])
  expect((await run(['logout'])).code).toBe(0)
  expect((await app.send('GET', '/api/v1/app/members', { key: session.token })).status).toBe(401)
})

test('an action that outlasts the session needs the password again, typed or passed', async () => {
  await run(['login', '--session'], deciding('approve'))
  const agePassword = () =>
    app.owner`update session set password_at = now() - interval '11 minutes'
      where kind = 'command_line'`
  const make = ['keys', 'create', '--name', 'Script', '--scopes', 'api:read']
  await agePassword()
  const refused = await run(make)
  expect([refused.code, refused.err.split(':')[1]?.trim()]).toEqual([
    errorTable.reauthentication_required.exit,
    'reauthentication_required',
  ])
  expect(refused.err).toContain('--confirm-password -')
  const wrong = await run(make, { secret: 'not the password' })
  expect([wrong.code, wrong.err.includes('the password is wrong')]).toEqual([
    errorTable.unauthenticated.exit,
    true,
  ])
  const typed = await run(make, { secret: PASSWORD })
  expect([typed.code, typed.out.includes('ak_'), typed.out.includes(PASSWORD)]).toEqual([
    0,
    true,
    false,
  ])
  await agePassword()
  expect((await run([...make, '--confirm-password', '-'], { input: PASSWORD })).code).toBe(0)
  await agePassword()
  expect(
    (await run([...make, '--confirm-password', '@secret'], { files: { secret: PASSWORD } })).code,
  ).toBe(0)
})

test('an export is printed line by line, to its end', async () => {
  await run(['login', '--session'], deciding('approve'))
  const { code, out } = await run(['workspace', 'export'])
  const kinds = jsonLines(out).map(({ kind }) => kind)
  expect([code, kinds[0], kinds.at(-1), kinds.includes('workspace')]).toEqual([
    0,
    'export',
    'end',
    true,
  ])
})

test('an owner sets the webhook endpoint, sees its secret once, and can read its state', async () => {
  const set = [
    'webhook',
    'set',
    '--url',
    'https://hooks.example.com/tendril',
    '--events',
    'growth.item.posted',
  ]
  expect((await run(set)).code).toBe(errorTable.unauthenticated.exit)
  await run(['login', '--session'], deciding('approve'))
  const shown = await run(set)
  expect([shown.code, shown.out.match(/whsec_/g)]).toEqual([0, ['whsec_']])
  const read = await run(['webhook', 'get', '--json'])
  expect(JSON.parse(read.out).webhook).toMatchObject({
    url: 'https://hooks.example.com/tendril',
    status: 'active',
    waiting: 0,
  })
  expect(read.out).not.toContain('whsec_')
  const rotated = JSON.parse((await run(['webhook', 'rotate', '--json'])).out)
  expect([rotated.secret, shown.out.includes(rotated.secret)]).toEqual([
    expect.stringMatching(/^whsec_/),
    false,
  ])
  expect(rotated.webhook.previous_secret_until).toBeString()
  expect(JSON.parse((await run(['webhook', 'events', '--json'])).out)).toEqual({
    endpoint: 'active',
    events: [],
    next_cursor: null,
  })
  expect((await run(['webhook', 'disable'])).out).toContain('an owner disabled it')
})
