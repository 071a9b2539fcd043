/** Working with several deployments, and the file that stores them. */
import { describe, expect, test } from 'bun:test'
import { chmod, mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { errorTable } from '#kernel/errors'
import { deviceServer } from '#test/support/cli/device-server'
import { cliHome } from '#test/support/cli/home'

const home = cliHome()
const { run, config, modeOf, write } = home

describe('profiles', () => {
  test('one for each deployment, one of which is current', async () => {
    await using here = deviceServer({ polls: [] })
    await using there = deviceServer({ polls: [] })
    await run(['login', '--api-url', here.url, '--api-key', 'ak_here'])
    await run(['login', '--api-url', there.url, '--api-key', 'ak_there'])
    const name = new URL(there.url).host
    const { profiles, current } = await config()
    expect([Object.keys(profiles), current]).toEqual([['default', name], name])
    expect((await run(['profiles', 'use', 'default'])).code).toBe(0)
    const listed = JSON.parse((await run(['profiles', 'list', '--json'])).out)
    expect(
      listed.profiles.map((one: { name: string; current: boolean }) => [one.name, one.current]),
    ).toEqual([
      ['default', true],
      [name, false],
    ])
    await run(['connection', 'get'])
    await run(['connection', 'get', '--profile', name])
    await run(['connection', 'get'], { env: { TENDRIL_PROFILE: name } })
    expect([
      here.asked.at(-1)!.headers.get('authorization'),
      here.asked.length,
      there.asked.length,
    ]).toEqual(['Bearer ak_here', 2, 3])
    expect((await run(['profiles', 'remove', name])).code).toBe(0)
    expect(Object.keys((await config()).profiles)).toEqual(['default'])
  })

  test('a key is sent only to the address for which it was stored', async () => {
    await using here = deviceServer({ polls: [] })
    await using there = deviceServer({ polls: [] })
    await run(['login', '--api-url', here.url, '--api-key', 'ak_here'])
    const { code, err } = await run(['connection', 'get', '--api-url', there.url])
    expect([code, there.asked.length]).toEqual([errorTable.unauthenticated.exit, 0])
    expect(err).toContain(`tendril login --api-url ${there.url}`)
    expect(
      (await run(['connection', 'get', '--profile', 'default', '--api-url', there.url])).code,
    ).toBe(errorTable.unauthenticated.exit)
    expect(there.asked).toEqual([])
  })

  test('an option overrides the environment, which overrides the profile', async () => {
    await using server = deviceServer({ polls: [] })
    await run(['login', '--api-url', server.url, '--api-key', 'ak_stored'])
    const env = { TENDRIL_API_KEY: 'ak_env' }
    await run(['connection', 'get'], { env })
    await run(['--api-key', 'ak_option', 'connection', 'get'], { env })
    expect(server.asked.slice(1).map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer ak_env',
      'Bearer ak_option',
    ])
  })

  test.each([
    ['an unknown profile', ['connection', 'get', '--profile', 'nope'], 'no such profile: nope'],
    [
      'an invalid address',
      ['connection', 'get', '--api-url', 'localhost:7070'],
      'localhost:7070 is not a valid URL',
    ],
    ['switching to an unknown profile', ['profiles', 'use', 'nope'], 'no such profile: nope'],
    [
      'a name that JSON would swallow',
      ['login', '--api-key', 'ak_x', '--profile', '__proto__'],
      '__proto__ is not a valid profile name',
    ],
  ])('%s is a mistake', async (_, argv, text) => {
    const { code, err } = await run(argv)
    expect([code, err.includes(text)]).toEqual([2, true])
  })
})

describe('the file', () => {
  test('that other users can read is made private, with a warning', async () => {
    await using server = deviceServer({ polls: [] })
    await write({ current: 'a', profiles: { a: { api_url: server.url, api_key: 'ak_x' } } })
    await chmod(home.file, 0o644)
    const { code, err } = await run(['connection', 'get'])
    expect([code, await modeOf(home.file)]).toEqual([0, '600'])
    expect(err).toContain('was readable by other users')
  })

  test('keeps fields that this program does not know, and its folder keeps its contents', async () => {
    await using server = deviceServer({ polls: [] })
    await mkdir(join(home.path, '.tendril', 'server'), { recursive: true, mode: 0o755 })
    await write({
      theme: 'dark',
      profiles: { other: { api_url: 'https://x.example', api_key: 'ak_o', note: 'mine' } },
    })
    await chmod(join(home.path, '.tendril'), 0o755)
    await run(['login', '--api-url', server.url, '--api-key', 'ak_x'])
    expect(await config()).toMatchObject({
      theme: 'dark',
      profiles: { other: { note: 'mine', api_key: 'ak_o' }, default: { api_key: 'ak_x' } },
    })
    expect(await modeOf(join(home.path, '.tendril'))).toBe('700')
    expect((await readdir(join(home.path, '.tendril'))).sort()).toEqual(['config.json', 'server'])
  })

  test('stays a symbolic link', async () => {
    await using server = deviceServer({ polls: [] })
    await write({ profiles: {} })
    const elsewhere = join(home.path, 'elsewhere.json')
    await Bun.write(elsewhere, '{"profiles":{}}')
    await Bun.file(home.file).delete()
    await symlink(elsewhere, home.file)
    await run(['login', '--api-url', server.url, '--api-key', 'ak_x'])
    expect(JSON.parse(await readFile(elsewhere, 'utf8')).profiles.default.api_key).toBe('ak_x')
  })

  test.each([
    ['invalid JSON', '{"profiles":', 'is not valid JSON'],
    ['a list', '[]', 'is not a JSON object'],
    ['profiles of another form', { profiles: { a: { api_url: 7 } } }, 'an invalid profile: a'],
    ['a current profile that is not text', { current: 1 }, 'a current field that is not text'],
  ])('that is %s is reported, and not overwritten', async (_, value, text) => {
    await write(value)
    const before = await readFile(home.file, 'utf8')
    const { code, err } = await run(['login', '--api-key', 'ak_x'])
    expect([code, err.includes(text), await readFile(home.file, 'utf8')]).toEqual([2, true, before])
  })
})
