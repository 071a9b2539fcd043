import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dataOf } from '#postgres/cluster'
import { readPidFile } from '#postgres/orphan'
import { processStart } from '#postgres/process'
import { type Embedded, findEmbedded } from '#postgres/start'
import { query, spawnServer, start, until, untilReady } from '#test/support/database/embedded'
import { type TemporaryFolder, temporaryFolder } from '#test/support/folder'

const asRoot = process.getuid?.() === 0
const PATIENCE_MS = 60_000

describe('a running embedded database', () => {
  let folder: TemporaryFolder
  let home: string
  let embedded: Embedded

  beforeAll(async () => {
    folder = await temporaryFolder()
    home = join(folder.path, 'a home', 'of its own')
    embedded = await start(home)
  }, PATIENCE_MS)
  afterAll(async () => {
    await embedded?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  const setting = (name: string) => query(embedded.target, `select current_setting('${name}')`)

  test('is Postgres 18, in UTF-8 with checksums, sorted by code point', async () => {
    expect(await setting('server_version')).toStartWith('18.')
    expect(await setting('server_encoding')).toBe('UTF8')
    expect(await setting('data_checksums')).toBe('on')
    expect(
      await query(
        embedded.target,
        `select string_agg(x, '' order by x) from unnest('{b,a,B,é,Z}'::text[]) x`,
      ),
    ).toBe('BZabé')
    expect(await query(embedded.target, `select upper('é')`)).toBe('É')
  })

  test('holds the database of its target', async () => {
    expect(await query(embedded.target, 'select current_database()')).toBe('tendril')
  })

  test('listens on a socket that only its user can reach, and on no port', async () => {
    expect(await setting('listen_addresses')).toBe('')
    expect(statSync(embedded.target.host).mode & 0o777).toBe(0o700)
  })

  test('requires the password on the socket too', async () => {
    await expect(query({ ...embedded.target, password: 'wrong' }, 'select 1')).rejects.toThrow(
      'password authentication failed',
    )
    expect(statSync(join(home, 'postgres', 'password')).mode & 0o777).toBe(0o600)
  })

  test.skipIf(!asRoot)('runs as an ordinary user when the server is root', () => {
    const pid = readPidFile(dataOf(home))?.pid
    const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    expect(Number(uid)).toBeGreaterThan(0)
    expect(statSync(dataOf(home)).uid).toBe(Number(uid))
    expect(statSync(home).uid).toBe(0)
  })

  test('is found by commands beside the server', async () => {
    expect(await findEmbedded(home)).toEqual(embedded.target)
    expect(await findEmbedded(folder.path)).toBeUndefined()
    expect(await findEmbedded(join(folder.path, 'nowhere'))).toBeUndefined()
  })

  test('keeps a second server off its home, and names the process', async () => {
    await expect(start(home)).rejects.toThrow(`process ${process.pid} already serves`)
    const second = spawnServer(home)
    expect(await new Response(second.stderr).text()).toContain(
      `process ${process.pid} already serves`,
    )
    expect(await second.exited).not.toBe(0)
  })

  test(
    'restarts with its data after it is killed',
    async () => {
      await query(embedded.target, 'create table survivor (n int)')
      // Without durability, a commit waits in memory for a moment.
      await query(embedded.target, 'checkpoint')
      const pid = readPidFile(dataOf(home))?.pid ?? 0
      process.kill(pid, 'SIGKILL')
      await until(() => processStart(pid) === undefined)
      await until(async () => (await findEmbedded(home)) !== undefined)
      expect(await query(embedded.target, `select to_regclass('survivor')::text`)).toBe('survivor')
    },
    PATIENCE_MS,
  )
})

describe('a server that is killed', () => {
  let folder: TemporaryFolder
  let home: string

  beforeAll(async () => {
    folder = await temporaryFolder()
    home = join(folder.path, 'home')
    await (await start(home))[Symbol.asyncDispose]()
  }, PATIENCE_MS)
  afterAll(() => folder?.[Symbol.asyncDispose]())

  /** Whether Postgres shut down cleanly: the state at byte 16 of pg_control is then 1. */
  const shutDownCleanly = () =>
    readFileSync(join(dataOf(home), 'global', 'pg_control')).readUInt32LE(16) === 1

  test(
    'takes its database down cleanly, although a child process survives it',
    async () => {
      const server = spawnServer(home, 'companion')
      const companion = Number(/companion (\d+)/.exec(await untilReady(server))?.[1])
      try {
        const pid = readPidFile(dataOf(home))?.pid ?? 0
        expect(processStart(pid)).toBeDefined()
        expect(shutDownCleanly()).toBe(false)
        server.kill('SIGKILL')
        await until(() => processStart(pid) === undefined)
        expect(processStart(companion)).toBeDefined()
        expect(shutDownCleanly()).toBe(true)
        expect(readPidFile(dataOf(home))).toBeUndefined()
      } finally {
        process.kill(companion, 'SIGKILL')
      }
    },
    PATIENCE_MS,
  )

  test(
    'leaves a home that the next server can start at once, after the old database',
    async () => {
      const server = spawnServer(home)
      await untilReady(server)
      const old = readPidFile(dataOf(home))?.pid
      server.kill('SIGKILL')
      await server.exited
      expect(existsSync(join(home, 'server.lock'))).toBe(true)
      await using embedded = await start(home)
      expect(readPidFile(dataOf(home))?.pid).not.toBe(old)
      expect(await query(embedded.target, `select 'yes'`)).toBe('yes')
    },
    PATIENCE_MS,
  )

  test(
    'leaves a lock that exactly one of several new servers takes',
    async () => {
      writeFileSync(
        join(home, 'server.lock'),
        JSON.stringify({ pid: process.pid, started: 'another time', token: '' }),
      )
      const servers = [1, 2, 3].map(() => spawnServer(home))
      const outcomes = await Promise.all(
        servers.map((server) => untilReady(server).catch((error: Error) => error.message)),
      )
      expect(outcomes.filter((outcome) => outcome.startsWith('ready'))).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome.includes('already serves'))).toHaveLength(2)
      for (const server of servers) server.kill('SIGKILL')
      await Promise.all(servers.map((server) => server.exited))
    },
    PATIENCE_MS,
  )

  test(
    'leaves pid files that do not stop the next server if their pid is now another program',
    async () => {
      await (await start(home))[Symbol.asyncDispose]()
      const lines = [process.pid, dataOf(home), 1, 5432, join(home, 'run'), '', '1 1', 'ready', '']
      writeFileSync(join(dataOf(home), 'postmaster.pid'), lines.join('\n'))
      writeFileSync(join(home, 'run', '.s.PGSQL.5432.lock'), lines.join('\n'))
      await using embedded = await start(home)
      expect(await query(embedded.target, 'select current_user')).toBe('tendril')
    },
    PATIENCE_MS,
  )
})

describe('a home', () => {
  test(
    'that was incompletely created is created anew',
    async () => {
      await using folder = await temporaryFolder()
      const server = spawnServer(folder.path)
      await until(() => readdirSync(folder.path).some((name) => name.startsWith('postgres.new-')))
      server.kill('SIGKILL')
      await server.exited
      expect(existsSync(join(folder.path, 'postgres'))).toBe(false)
      await using embedded = await start(folder.path)
      expect(await query(embedded.target, 'select current_database()')).toBe('tendril')
    },
    PATIENCE_MS,
  )

  test(
    'with a long path has its socket in the temporary folder while the database runs',
    async () => {
      await using folder = await temporaryFolder()
      const embedded = await start(join(folder.path, 'x'.repeat(100)))
      const { host } = embedded.target
      expect(host).toStartWith(tmpdir())
      expect(statSync(host).mode & 0o777).toBe(0o700)
      expect(await query(embedded.target, 'select current_database()')).toBe('tendril')
      expect(await findEmbedded(join(folder.path, 'x'.repeat(100)))).toEqual(embedded.target)
      await embedded[Symbol.asyncDispose]()
      expect(existsSync(host)).toBe(false)
    },
    PATIENCE_MS,
  )

  test.skipIf(!asRoot)(
    'in a folder that the database cannot enter is refused, and the folder named',
    async () => {
      await using folder = await temporaryFolder()
      const closed = join(folder.path, 'closed')
      mkdirSync(closed, { mode: 0o700 })
      await expect(start(join(closed, 'home'))).rejects.toThrow(
        `${closed} is closed: set TENDRIL_HOME`,
      )
    },
  )

  test('with data of another major version is refused, with both versions and the way over', async () => {
    await using folder = await temporaryFolder()
    mkdirSync(dataOf(folder.path), { recursive: true })
    writeFileSync(join(dataOf(folder.path), 'PG_VERSION'), '9\n')
    await expect(start(folder.path)).rejects.toThrow(
      /^the database in .* is of Postgres 9, .* only Postgres 18.*: back up with --logical by a program that comes with Postgres 9 .*tendril admin restore/,
    )
  })
})
