/** What docs/backups.md says of Postgres's own tools, word for word, with those of this machine. */
import { expect, test } from 'bun:test'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLog } from '#kernel/log'
import { secretKeyOf } from '#kernel/secret'
import { openWay, systemUserFor } from '#postgres/account'
import { startPostmaster } from '#postgres/postmaster'
import { runProgram } from '#postgres/process'
import { makeSocketFolder, PORT } from '#postgres/socket'
import { checkCanary } from '#store/engine/canary'
import type { ConnectionOptions } from '#store/engine/db'
import { withLogins } from '#store/engine/logins'
import { migrate } from '#store/engine/migrate'
import { everythingIn, fillTables } from '#test/support/backup/logical'
import { TEST_SECRET } from '#test/support/database/db'
import { blocksOf } from '#test/support/docs/page'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const DEBIAN = '/usr/lib/postgresql'
const TOOLS = ['postgres', 'initdb', 'pg_dump', 'pg_restore', 'psql']
const PASSWORD = 'words'
const log = createLog('silent')
const key = secretKeyOf(TEST_SECRET)

/** A folder with all of them, which then fit each other. */
const bin = [
  ...(existsSync(DEBIAN) ? readdirSync(DEBIAN).map((one) => join(DEBIAN, one, 'bin')) : []),
  dirname(Bun.which('postgres') ?? '/postgres'),
].find((folder) => TOOLS.every((tool) => existsSync(join(folder, tool))))

const folder = use(temporaryFolder)

interface Cluster extends AsyncDisposable {
  /** The address to put in place of that of the page. */
  host: string
  as(username: string, database?: string): ConnectionOptions
}

/** A cluster with no role but its superuser, who has the usual name. */
const cluster = async (name: string): Promise<Cluster> => {
  const home = join(folder.path, name)
  const [data, host] = [join(home, 'data'), join(home, 'run')]
  mkdirSync(data, { recursive: true, mode: 0o711 })
  const account = systemUserFor(data)
  if (account) {
    chownSync(data, account.uid, account.gid)
    openWay(home, account)
  }
  const initdb = [join(bin!, 'initdb'), `--pgdata=${data}`, '--username=postgres', '--auth=trust']
  const made = await runProgram([...initdb, '--encoding=UTF8', '--locale=C.UTF-8'], account)
  expect([made.code, made.stderr.includes('error')]).toEqual([0, false])
  makeSocketFolder(host, account)
  const binaries = { postgres: join(bin!, 'postgres'), initdb: join(bin!, 'initdb'), major: 0 }
  const started = { binaries, data, socketFolder: host, account, durable: true, log }
  const postmaster = await startPostmaster(started)
  return {
    host,
    as: (username, database = 'tendril') => ({
      host,
      port: PORT,
      username,
      database,
      password: PASSWORD,
    }),
    [Symbol.asyncDispose]: () => postmaster.stop(),
  }
}

const page = readFileSync('docs/backups.md', 'utf8')

/** The one block of the page that says this. */
const blockWith = (words: string): string => {
  const found = blocksOf(page).map(({ lines }) => lines.join('\n'))
  const [block, ...more] = found.filter((text) => text.includes(words))
  expect(more).toEqual([])
  return block!.replaceAll('…', PASSWORD).replaceAll(/-- #.*$/gm, '')
}

const shell = (script: string, at: Cluster): string => {
  const addressed = script.replaceAll(/-h db2?\.example\.com/g, `-h ${at.host}`)
  const { exitCode, stdout, stderr } = Bun.spawnSync(['bash', '-ec', addressed], {
    cwd: folder.path,
    env: { PATH: `${bin}:${process.env.PATH}`, PGPASSWORD: PASSWORD, LC_ALL: 'C' },
  })
  if (exitCode !== 0) throw new Error(String(stderr))
  return String(stdout)
}

const asSuperuser = (sql: string, at: Cluster): string =>
  shell(`psql -qX -v ON_ERROR_STOP=1 -h ${at.host} -U postgres postgres <<'END'\n${sql}\nEND\n`, at)

test.skipIf(bin === undefined)(
  'a dump by a role that sees all rows fills a new cluster, whose owner is no superuser',
  async () => {
    await using original = await cluster('db')
    await using other = await cluster('db2')
    asSuperuser(
      `create role tendril login createrole password '${PASSWORD}';
        create database tendril owner tendril;`,
      original,
    )
    const owner = original.as('tendril')
    await migrate(owner, log)
    await checkCanary(owner, [key])
    await fillTables(await withLogins(owner, key, log), original.as('postgres'))
    asSuperuser(blockWith('create role tendril_backup'), original)
    const dump = blockWith('pg_dump -Fc')
    expect(() => shell(dump.replace('-U tendril_backup', '-U tendril'), original)).toThrow(
      'would be affected by row-level security',
    )
    shell(dump, original)
    asSuperuser(blockWith('create role tendril_app nologin'), other)
    const counted = shell(blockWith('pg_restore --exit-on-error'), other)
    expect(counted).toMatch(/^\s+2$/m)
    const restored = await everythingIn(other.as('postgres'))
    expect(restored).toEqual(await everythingIn(original.as('postgres')))
    // A server that knows the key begins, with logins of its own.
    const again = other.as('tendril')
    await migrate(again, log)
    const { newest } = await checkCanary(again, [key])
    await withLogins(again, newest, log)
  },
  120_000,
)
