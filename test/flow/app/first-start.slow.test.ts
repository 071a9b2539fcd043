/** The first start of a server as a process: what it prints, and what it refuses. */
import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createLog } from '#kernel/log'
import { checkedConfig } from '#server/serve'
import { awaitDatabase, checkVersion } from '#store/engine/reach'
import { eventually, testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { temporaryFolder } from '#test/support/folder'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import { mainProgram, SOURCE } from '#test/support/processes/bundle'
import { start } from '#test/support/processes/started'
import { use } from '#test/support/use'

const KEY = /ak_[0-9A-Za-z]{36}/
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/

const folder = use(temporaryFolder)

const listening = async (): Promise<{ server: Server; port: number }> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as { port: number }).port }
}

test('a start whose port is taken makes no key; the next start shows workspace, key, link and drafter once', async () => {
  const TENDRIL_HOME = join(folder.path, 'first')
  const { server, port } = await listening()
  const refused = await start({ TENDRIL_HOME, PORT: String(port) })
  expect([refused.code, refused.out]).toEqual([1, ''])
  expect(refused.err()).toBe(
    `tendril: 127.0.0.1:${port} is taken: stop the program that listens there, or set PORT to another port\n`,
  )
  server.close()
  {
    await using first = await start({ TENDRIL_HOME, PORT: '0' })
    const url = /listens on (\S+)/.exec(first.out)![1]
    expect(first.out).toMatch(new RegExp(`Workspace  ${UUID.source}`))
    expect(first.out).toContain(`${url}/join?token=inv_`)
    expect(first.out).toContain('Drafts by  the built-in composer')
    const key = KEY.exec(first.out)![0]
    const headers = { authorization: `Bearer ${key}` }
    expect((await fetch(`${url}/api/v1/growth/overview`, { headers })).status).toBe(200)
    expect((await fetch(`${url}/health`)).status).toBe(200)
  }
  // As `npm start` does.
  await using second = await start({ TENDRIL_HOME, PORT: '0' }, SOURCE)
  expect(second.out).toContain('Drafts by  the built-in composer')
  expect(second.out).not.toMatch(KEY)
})

const refusalOf = (env: Record<string, string>): string => {
  try {
    checkedConfig(env)
    return 'none'
  } catch (cause) {
    return (cause as Error).message
  }
}

describe('a start is refused and names the variable', () => {
  const refusals: [string, Record<string, string>, string][] = [
    [
      'for a log level',
      { LOG_LEVEL: 'verbose' },
      'LOG_LEVEL must be trace, debug, info, warn, error, fatal or silent: verbose',
    ],
    ['for a port', { PORT: '70700' }, 'PORT must be a port number from 0 to 65535: 70700'],
    [
      'for an address in the place of a host',
      { HOST: 'http://localhost' },
      'HOST must be an IP address or host name of this machine',
    ],
    [
      'for an address of a node',
      { NODE_URL: 'localhost:7070' },
      'NODE_URL must be an http or https address: localhost:7070',
    ],
    [
      'for a public address',
      { PUBLIC_URL: 'tendril.example.com' },
      'PUBLIC_URL must be an http or https address: tendril.example.com',
    ],
    [
      'for sandbox faults',
      { SANDBOX_FAULTS: '5' },
      'SANDBOX_FAULTS: "5" is not of the form name=value',
    ],
    [
      'for a secret',
      { TENDRIL_SECRET_KEY: 'abc' },
      'TENDRIL_SECRET_KEY must be 32 bytes in base64',
    ],
    ['for a key', { TENDRIL_BOOTSTRAP_KEY: 'ak_abc' }, 'TENDRIL_BOOTSTRAP_KEY must be an API key'],
    [
      'for proxies',
      { TRUSTED_PROXIES: '10.0.0.7, 1' },
      'TRUSTED_PROXIES must be addresses or networks of at most 100 proxies, such as 10.0.0.7 or 10.0.0.0/8, separated by commas: 1',
    ],
    ['for a commit', { TENDRIL_COMMIT: 'a b' }, 'TENDRIL_COMMIT must be'],
    ['for failpoints', { TENDRIL_FAILPOINTS: 'send.sent' }, 'TENDRIL_FAILPOINTS must be'],
    [
      'for the address of a model server',
      { OPENAI_BASE_URL: 'localhost:11434' },
      'OPENAI_BASE_URL must be an http or https address',
    ],
    [
      "for the provider's own server without a key",
      { OPENAI_BASE_URL: 'https://api.openai.com/v1' },
      'OPENAI_API_KEY must be set',
    ],
    [
      'for a database without a secret',
      { DATABASE_URL: 'postgres://u:geheim@localhost/x' },
      'TENDRIL_SECRET_KEY is required with DATABASE_URL',
    ],
  ]
  test.each(refusals)('%s', (_, env, message) => {
    const refusal = refusalOf({ TENDRIL_HOME: folder.path, PORT: '0', ...env })
    expect(refusal).toStartWith(message)
    expect(refusal.split('\n')).toHaveLength(1)
  })

  test('for a home that is a file, in one line of a process', async () => {
    await using refused = await start({ TENDRIL_HOME: '/etc/passwd', PORT: '0' })
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err()).toStartWith('tendril: TENDRIL_HOME /etc/passwd cannot be used')
    expect(refused.err().trim().split('\n')).toHaveLength(1)
  })

  test('for a host that is not an address of this machine', async () => {
    await using refused = await start({
      TENDRIL_HOME: join(folder.path, 'home'),
      PORT: '0',
      HOST: '192.0.2.1',
    })
    expect([refused.code, refused.err()]).toEqual([
      1,
      'tendril: HOST 192.0.2.1 is no address of this machine\n',
    ])
  })
})

describe('a DATABASE_URL that cannot be used is refused', () => {
  const db = use(freshDb)

  const log = createLog('silent')
  const refusal = (options: object): Promise<string> =>
    awaitDatabase({ ...db.options, ...options }, log, { patienceMs: 0, answerWithinMs: 500 }).then(
      () => 'none',
      (cause: Error) => cause.message,
    )

  test('for a wrong password, which is not shown', async () => {
    const message = await refusal({ password: 'geheim' })
    expect(message).toStartWith('DATABASE_URL cannot be used: ')
    expect(message).toContain(`refuses the role ${db.options.username}: the password is wrong`)
    expect(message).not.toContain('geheim')
  })
  test('for a port where nothing listens', async () => {
    const { server, port } = await listening()
    await new Promise((resolve) => server.close(resolve))
    expect(await refusal({ host: '127.0.0.1', port })).toBe(
      `DATABASE_URL cannot be used: nothing listens at 127.0.0.1:${port}`,
    )
  })
  test('for a database, a host or a socket that is not there', async () => {
    const why = [{ database: 'nowhere' }, { host: 'nowhere.invalid' }, { host: folder.path }]
    expect(await Promise.all(why.map(refusal))).toEqual([
      expect.stringContaining('there is no database nowhere at '),
      'DATABASE_URL cannot be used: the host of nowhere.invalid:5432 cannot be resolved',
      `DATABASE_URL cannot be used: there is no Postgres socket in ${folder.path}`,
    ])
  })
  test('for a server that is not Postgres, and one that never answers', async () => {
    await using web = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response('no'),
    }) as unknown as AsyncDisposable & {
      port: number
    }
    expect(await refusal({ host: '127.0.0.1', port: web.port })).toContain(
      `DATABASE_URL cannot be used: `,
    )
    const { server, port } = await listening()
    expect(await refusal({ host: '127.0.0.1', port })).toBe(
      `DATABASE_URL cannot be used: no Postgres answers at 127.0.0.1:${port}`,
    )
    server.close()
  })
  test('for a Postgres that is too old', () => {
    expect(() => checkVersion(140_012)).toThrow(
      'DATABASE_URL cannot be used: Postgres 15 or later is required, not 14',
    )
    checkVersion(150_000)
  })
  test('but a usable one is accepted; a process reports a refusal in one line', async () => {
    expect(await refusal({})).toBe('none')
    const env = {
      DATABASE_URL: 'postgres://u:geheim@nowhere.invalid/x',
      TENDRIL_SECRET_KEY: randomBytes(32).toString('base64'),
      PORT: '0',
    }
    await using refused = await start(env)
    expect([refused.code, refused.err()]).toEqual([
      1,
      'tendril: DATABASE_URL cannot be used: the host of nowhere.invalid:5432 cannot be resolved\n',
    ])
  })
})

test('a start says which models draft', async () => {
  const TENDRIL_HOME = join(folder.path, 'home')
  await using started = await start({
    TENDRIL_HOME,
    PORT: '0',
    OPENAI_BASE_URL: 'http://localhost:11434/v1',
    MODEL_FAST: 'llama-small',
  })
  expect(started.out).toContain('Drafts by  llama-small and gpt-5 at http://localhost:11434/v1')
})

test('the health command asks the address in HOST', async () => {
  const env = { TENDRIL_HOME: join(folder.path, 'home'), HOST: '127.0.0.2' }
  await using started = await start({ ...env, PORT: '0', LOG_LEVEL: 'error' })
  const PORT = /listens on http:\/\/localhost:(\d+)/.exec(started.out)![1]!
  const program = await mainProgram()
  const health = (more: object) =>
    Bun.spawn([process.execPath, program, 'health'], {
      env: { PATH: process.env.PATH, ...env, PORT, ...more },
      stderr: 'ignore',
    }).exited
  expect([await health({}), await health({ HOST: '127.0.0.1' })]).toEqual([0, 1])
})

test('a model server that needs no key drafts', async () => {
  await using fake = await createFakeOpenAi()
  await using app = await testApp({ env: { OPENAI_BASE_URL: fake.url, MODEL_FAST: 'llama-small' } })
  const { body } = await app.send('POST', 'batches', { body: { count: 1 } })
  expect(body.batch.requested).toBe(1)
  const finished = await eventually(
    () => app.send('GET', `batches/${body.batch.id}`),
    ({ body: now }) => ['ready', 'failed'].includes(now.batch.status),
  )
  expect(finished.body.batch).toMatchObject({ status: 'ready', model: 'llama-small' })
  expect(fake.calls[0]!.authorization).toBe('Bearer none')
})
