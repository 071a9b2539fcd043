/**
 * A Postgres primary with a synchronous standby, on the binaries of the embedded database, which
 * can be killed and promoted.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { systemUserFor } from '#postgres/account'
import { findBinaries } from '#postgres/binaries'
import { CHILD_ENV, runProgram, type SystemUser } from '#postgres/process'
import type { ConnectionOptions } from '#store/engine/db'
import { eventually } from '#test/support/eventually'
import { temporaryFolder } from '#test/support/folder'

export interface Cluster extends AsyncDisposable {
  primary: ConnectionOptions
  standby: ConnectionOptions
  /**
   * Kills the primary as if its machine died, and promotes the standby. Resolves when that accepts
   * writes.
   */
  failOver(): Promise<void>
}

const ROLE = 'tendril'
const PORTS = { primary: 5432, standby: 5433 }

interface Ground {
  postgres: string
  folder: string
  account: SystemUser | undefined
}

const must = async (command: string[], account: SystemUser | undefined): Promise<void> => {
  const { code, stderr } = await runProgram(command, account)
  if (code !== 0) throw new Error(`${command[0]}: ${stderr}`)
}

const startOne = (
  { postgres: binary, folder, account }: Ground,
  which: keyof typeof PORTS,
  more: Record<string, string>,
): ChildProcess => {
  const settings = {
    port: String(PORTS[which]),
    listen_addresses: '',
    unix_socket_directories: folder,
    unix_socket_permissions: '0700',
    max_connections: '200',
    shared_buffers: '32MB',
    wal_keep_size: '512MB',
    fsync: 'off',
    log_min_messages: 'panic',
    ...more,
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return spawn(binary, ['-D', join(folder, which), ...args], {
    ...(account && { uid: account.uid, gid: account.gid }),
    cwd: '/',
    env: CHILD_ENV,
    stdio: 'ignore',
  })
}

const isGone = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null

const ask = async (options: ConnectionOptions, statement: string): Promise<postgres.Row[]> => {
  const sql = postgres({
    ...options,
    max: 1,
    connect_timeout: 3,
    backoff: () => 0.05,
    onnotice: () => {},
  })
  try {
    return await sql.unsafe(statement)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

const answers = (options: ConnectionOptions, statement: string): Promise<boolean> =>
  eventually(
    () =>
      ask(options, statement).then(
        ([row]) => row?.ok === true,
        () => false,
      ),
    (ok) => ok,
  )

/** Creates two data folders with the same content, so that either can follow the other's log. */
const prepare = async (home: string): Promise<Ground> => {
  const folder = join(home, 'cluster')
  const account = systemUserFor(folder)
  const { postgres: binary, initdb } = await findBinaries({
    home,
    account,
    durable: false,
    major: undefined,
  })
  await must(['mkdir', '-m', '755', folder], undefined)
  if (account) await must(['chown', `${account.uid}:${account.gid}`, folder], undefined)
  await must(
    [
      initdb,
      '-D',
      join(folder, 'primary'),
      '-U',
      ROLE,
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--no-locale',
      '--no-sync',
    ],
    account,
  )
  await must(['cp', '-a', join(folder, 'primary'), join(folder, 'standby')], account)
  writeFileSync(join(folder, 'standby', 'standby.signal'), '')
  return { postgres: binary, folder, account }
}

/** Commits wait for both. */
export async function startCluster(): Promise<Cluster> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await temporaryFolder())
  const ground = await prepare(path)
  const { folder } = ground
  const children: ChildProcess[] = []
  stack.defer(async () => {
    for (const child of children) child.kill('SIGQUIT')
    await eventually(
      () => children.every(isGone),
      (gone) => gone,
    )
  })
  const at = (which: keyof typeof PORTS): ConnectionOptions => ({
    host: folder,
    port: PORTS[which],
    database: 'postgres',
    username: ROLE,
    password: 'x',
  })
  const [primary, standby] = [at('primary'), at('standby')]
  const first = startOne(ground, 'primary', { synchronous_standby_names: 'standby' })
  children.push(first)
  if (!(await answers(primary, 'select true as ok'))) throw new Error('the primary did not start')
  children.push(
    startOne(ground, 'standby', {
      primary_conninfo: `host=${folder} port=${PORTS.primary} user=${ROLE} application_name=standby`,
    }),
  )
  if (!(await answers(primary, "select sync_state = 'sync' as ok from pg_stat_replication")))
    throw new Error('the standby does not follow')
  const owned = stack.move()
  return {
    primary,
    standby,
    async failOver() {
      first.kill('SIGKILL')
      await eventually(
        () => isGone(first),
        (gone) => gone,
      )
      await ask(standby, 'select pg_promote(true, 20)')
      await answers(standby, 'select not pg_is_in_recovery() as ok')
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
