/** Logging in by the device flow or with a key, and logging out. */
import { describe, expect, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorTable } from '#kernel/errors'
import { deviceServer, granted, oauthError } from '#test/support/cli/device-server'
import { cliHome } from '#test/support/cli/home'
import { refusal, scriptedServer } from '#test/support/cli/scripted'

const home = cliHome()
const { run, config, modeOf, write } = home

const pending = oauthError('authorization_pending')

describe('login by the device flow', () => {
  test('shows code and address, polls at the requested pace, and stores the key where other users cannot read it', async () => {
    await using server = deviceServer({ polls: [pending, pending, granted('ak_new')] })
    const { code, out, err, pauses, opened } = await run(['login', '--api-url', server.url])
    expect([code, pauses, opened]).toEqual([0, [5_000, 5_000, 5_000], []])
    expect(err).toContain('https://tendril.example.com/device\n')
    expect(err).toContain('BCDF-GHJK')
    expect(out).toBe(`logged in to Nordfracht at ${server.url}, profile default\n`)
    expect(server.forms[0]).toEqual({
      to: 'code',
      fields: {
        client_id: 'tendril-cli',
        scope: 'api:read api:write mcp:use',
        device_name: 'test-machine',
      },
    })
    const profile = {
      api_url: server.url,
      api_key: 'ak_new',
      made_by_login: true,
      workspace: { id: 'w-1', name: 'Nordfracht' },
    }
    expect(await config()).toEqual({ current: 'default', profiles: { default: profile } })
    expect([await modeOf(home.file), await modeOf(join(home.path, '.tendril'))]).toEqual([
      '600',
      '700',
    ])
    expect(await readdir(join(home.path, '.tendril'))).toEqual(['config.json'])
  })

  test('opens a browser on a terminal, unless --no-browser forbids it', async () => {
    await using server = deviceServer({ polls: [granted('ak_new')] })
    const shown = await run(['login', '--api-url', server.url], { columns: 80 })
    expect(shown.opened).toEqual(['https://tendril.example.com/device?user_code=BCDF-GHJK'])
    expect(
      (await run(['login', '--api-url', server.url, '--no-browser'], { columns: 80 })).opened,
    ).toEqual([])
  })

  test('opens web addresses only', async () => {
    await using server = deviceServer({
      polls: [granted('ak_new')],
      code: { verification_uri: 'file:///etc/passwd', verification_uri_complete: 'javascript:1' },
    })
    expect((await run(['login', '--api-url', server.url], { columns: 80 })).opened).toEqual([])
  })

  test('slows down by five seconds for each slow_down, and doubles its pauses while the server is unavailable', async () => {
    await using server = deviceServer({
      polls: [
        oauthError('slow_down'),
        oauthError('slow_down'),
        pending,
        refusal(503, 'unavailable'),
        granted('ak_new'),
      ],
    })
    const { code, pauses } = await run(['login', '--api-url', server.url])
    expect([code, pauses]).toEqual([0, [5_000, 10_000, 15_000, 15_000, 30_000]])
  })

  test.each([
    ['expired_token', 'expired'],
    ['access_denied', 'denied'],
    ['invalid_grant', 'no longer valid'],
  ])('ends at %s', async (error, text) => {
    await using server = deviceServer({ polls: [oauthError(error)] })
    const { code, err } = await run(['login', '--api-url', server.url])
    expect([code, err.includes(text)]).toEqual([errorTable.unauthenticated.exit, true])
    await expect(config()).rejects.toThrow('ENOENT')
  })

  test('ends when the code has expired, whatever the server answers', async () => {
    await using server = deviceServer({ polls: [pending], code: { expires_in: 12 } })
    const { code, pauses } = await run(['login', '--api-url', server.url])
    expect([code, pauses]).toEqual([errorTable.unauthenticated.exit, [5_000, 5_000, 5_000]])
    expect(server.forms.filter(({ to }) => to === 'token')).toHaveLength(2)
  })

  test('requests the scopes given', async () => {
    await using server = deviceServer({ polls: [granted('ak_new')] })
    await run(['login', '--api-url', server.url, '--scopes', 'api:read,mcp:use'])
    expect(server.forms[0]!.fields.scope).toBe('api:read mcp:use')
  })

  test('says so when the server has no device flow', async () => {
    await using server = scriptedServer([{ status: 404, body: 'not here' }])
    const { code, err } = await run(['login', '--api-url', server.url])
    expect([code, err.includes('--api-key')]).toEqual([errorTable.not_found.exit, true])
  })
})

describe('login with a key', () => {
  test('stores a key that the server accepts', async () => {
    await using server = deviceServer({ polls: [] })
    const { code, out } = await run([
      'login',
      '--api-url',
      server.url,
      '--api-key',
      'ak_mine',
      '--json',
    ])
    expect([code, JSON.parse(out)]).toEqual([
      0,
      { profile: 'default', api_url: server.url, workspace: null },
    ])
    expect((await config()).profiles.default).toEqual({ api_url: server.url, api_key: 'ak_mine' })
    expect(server.asked.map(({ path, headers }) => [path, headers.get('authorization')])).toEqual([
      ['/api/v1/growth/connection', 'Bearer ak_mine'],
    ])
  })

  test('reads the key from standard input', async () => {
    await using server = deviceServer({ polls: [] })
    await run(['login', '--api-url', server.url, '--api-key', '-'], { input: 'ak_piped\n' })
    expect((await config()).profiles.default.api_key).toBe('ak_piped')
  })

  test('does not store a key that the server rejects', async () => {
    await using server = deviceServer({ polls: [], connection: refusal(401, 'unauthenticated') })
    expect((await run(['login', '--api-url', server.url, '--api-key', 'ak_wrong'])).code).toBe(
      errorTable.unauthenticated.exit,
    )
    await expect(config()).rejects.toThrow('ENOENT')
  })

  test('stores a key that cannot read, as it is still valid', async () => {
    await using server = deviceServer({
      polls: [],
      connection: refusal(403, 'missing_scope', { message: 'API key missing scope: api:read' }),
    })
    const { code, err } = await run(['login', '--api-url', server.url, '--api-key', 'ak_mcp'])
    expect([code, err]).toEqual([
      0,
      'tendril: API key missing scope: api:read; saved the key anyway\n',
    ])
  })

  test.each([['ak a'], ['ak\nb'], ['']])(
    'refuses a key that no header can carry: %j',
    async (key) => {
      expect((await run(['login', '--api-key', key])).code).toBe(2)
    },
  )
})

describe('a session', () => {
  test('is stored beside the key, and used with --as-me', async () => {
    await using server = deviceServer({
      polls: [granted('jwt-1', { expires_in: 3_600, scope: 'session' })],
    })
    await write({
      current: 'default',
      profiles: { default: { api_url: server.url, api_key: 'ak_x' } },
    })
    expect((await run(['login', '--session'])).code).toBe(0)
    expect(server.forms[0]!.fields.scope).toBe('session')
    const { profiles } = await config()
    expect(profiles.default).toMatchObject({ api_key: 'ak_x', session: { token: 'jwt-1' } })
    expect(Date.parse(profiles.default.session.expires_at) - Date.now()).toBeWithin(
      3_500_000,
      3_600_001,
    )
    await run(['connection', 'get'])
    await run(['connection', 'get', '--as-me'])
    const sent = server.asked
      .filter(({ path }) => path.endsWith('/connection'))
      .map(({ headers }) => headers.get('authorization'))
    expect(sent).toEqual(['Bearer ak_x', 'Bearer jwt-1'])
  })

  test.each([
    ['no session', undefined, 'requires a signed-in person'],
    ['an expired session', { token: 'jwt', expires_at: '2020-01-01T00:00:00Z' }, 'has ended'],
  ])('used while there is %s fails, and says how to get one', async (_, session, text) => {
    await write({
      current: 'a',
      profiles: { a: { api_url: 'http://127.0.0.1:1', api_key: 'ak_x', session } },
    })
    const { code, err } = await run(['connection', 'get', '--as-me'])
    expect(code).toBe(errorTable.unauthenticated.exit)
    expect(err).toContain(text)
    expect(err).toContain('tendril login --session')
  })
})

describe('logout', () => {
  const loggedIn = (url: string) =>
    write({
      current: 'default',
      profiles: {
        default: {
          api_url: url,
          api_key: 'ak_x',
          made_by_login: true,
          session: { token: 'jwt', expires_at: '2099-01-01T00:00:00Z' },
          colour: 'red',
        },
      },
    })

  test('revokes key and session at the server, then forgets only those', async () => {
    await using server = deviceServer({ polls: [] })
    await loggedIn(server.url)
    expect((await run(['logout'])).code).toBe(0)
    expect(server.revoked).toEqual(['jwt', 'ak_x'])
    expect((await config()).profiles.default).toEqual({ api_url: server.url, colour: 'red' })
    expect((await run(['items', 'list'])).err).toContain('not logged in to')
  })

  test('forgets a key given with --api-key and leaves it valid, unless --revoke is given', async () => {
    await using server = deviceServer({ polls: [] })
    const lend = () => run(['login', '--api-url', server.url, '--api-key', 'ak_lent'])
    await lend()
    const { code, out } = await run(['logout'])
    expect([code, server.revoked]).toEqual([0, []])
    expect(out).toContain(
      'is still valid, because login did not create it: revoke it with tendril logout --revoke',
    )
    expect((await config()).profiles.default).toEqual({ api_url: server.url })
    await lend()
    expect(JSON.parse((await run(['logout', '--json'])).out)).toEqual({
      profile: 'default',
      revoked: false,
    })
    await lend()
    expect((await run(['logout', '--revoke', '--local'])).code).toBe(2)
    expect(JSON.parse((await run(['logout', '--revoke', '--json'])).out)).toEqual({
      profile: 'default',
      revoked: true,
    })
    expect(server.revoked).toEqual(['ak_lent'])
  })

  test('does not revoke a key that login did not create', async () => {
    await using server = deviceServer({ polls: [granted('ak_new')] })
    await write({
      current: 'default',
      profiles: { default: { api_url: server.url, api_key: 'ak_old' } },
    })
    await run(['logout'])
    await run(['login', '--api-url', server.url])
    await run(['login', '--api-url', server.url, '--api-key', 'ak_lent'])
    await run(['logout'])
    expect(server.revoked).toEqual([])
  })

  test('forgets nothing that it could not revoke, unless --local is given', async () => {
    await using server = deviceServer({ polls: [], revoke: refusal(500, 'internal') })
    await loggedIn(server.url)
    const { code, err } = await run(['logout'])
    expect([code, err.includes('--local')]).toEqual([errorTable.internal.exit, true])
    expect((await config()).profiles.default.api_key).toBe('ak_x')
    expect((await run(['logout', '--local'])).code).toBe(0)
    expect((await config()).profiles.default.api_key).toBeUndefined()
  })
})

test('whoami shows profile, address, workspace and connection, and no key', async () => {
  await using server = deviceServer({ polls: [granted('ak_secret')] })
  await run(['login', '--api-url', server.url])
  const { out } = await run(['whoami', '--json'])
  expect(JSON.parse(out)).toMatchObject({
    profile: 'default',
    api_url: server.url,
    workspace: { name: 'Nordfracht' },
    connection: { connected: true },
  })
  expect(out).not.toContain('ak_secret')
})
