import { chmodSync, existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import type { Log } from '#kernel/log'
import { openWay, systemUserFor } from './account.ts'
import { findBinaries } from './binaries.ts'
import { databasePassword, dataMajor, dataOf, makeCluster, ROLE } from './cluster.ts'
import { fitData, hasCluster } from './data-owner.ts'
import { acquireLock, lockHolder } from './lock.ts'
import { awaitOrphan, readPidFile } from './orphan.ts'
import { type Postmaster, type PostmasterOptions, startPostmaster } from './postmaster.ts'
import { clearSocket, makeSocketFolder, PORT, socketFolderOf } from './socket.ts'
import { supervise } from './supervise.ts'

/** How to reach the database: options of postgres.js. */
export interface DatabaseAddress {
  /** The folder of the Unix socket. */
  host: string
  port: number
  database: string
  username: string
  password: string
}

/** Disposing shuts the database down and releases the home. */
export interface Embedded extends AsyncDisposable {
  readonly target: DatabaseAddress
}

interface Options {
  /** TENDRIL_HOME; made if it does not exist. */
  home: string
  log: Log
  /** Tests set it to false: commits then need not survive a power cut. */
  durable?: boolean
}

const DATABASE = 'tendril'
const ORPHAN_PATIENCE_MS = 30_000

export const lockOf = (home: string): string => join(home, 'server.lock')

const targetAt = (host: string, password: string): DatabaseAddress => ({
  host,
  port: PORT,
  database: DATABASE,
  username: ROLE,
  password,
})

/**
 * Makes the home and its missing parents. As root, it makes them so that others can pass through
 * but not list them.
 */
export const makeHome = (path: string): string => {
  try {
    return madeHome(path)
  } catch (cause) {
    throw new Error(
      `TENDRIL_HOME ${path} cannot be used: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    )
  }
}

const madeHome = (path: string): string => {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700
  const first = mkdirSync(path, { recursive: true, mode })
  const home = realpathSync(path)
  const top = first && realpathSync(first)
  // The mode is set once more, because the umask narrows it at creation.
  for (let folder = home; top && folder.length >= top.length; folder = dirname(folder))
    chmodSync(folder, mode)
  return home
}

/**
 * Waits for a database that an earlier server left running, clears the remains of a dead one, then
 * starts.
 */
const start = async (options: PostmasterOptions): Promise<Postmaster> => {
  await awaitOrphan(options.data, ORPHAN_PATIENCE_MS, (pid) =>
    options.log.warn(
      { pid },
      'the database of an earlier server is still shutting down: waiting for it',
    ),
  )
  makeSocketFolder(options.socketFolder, options.account)
  clearSocket(options.socketFolder)
  return startPostmaster(options)
}

const createDatabase = async (target: DatabaseAddress): Promise<void> => {
  const sql = postgres({ ...target, database: 'postgres', max: 1 })
  try {
    const found = await sql`select from pg_database where datname = ${DATABASE}`
    if (found.length === 0) await sql`create database ${sql(DATABASE)}`
  } finally {
    await sql.end()
  }
}

const prepare = async (home: string, log: Log, durable: boolean): Promise<PostmasterOptions> => {
  const data = dataOf(home)
  const isMade = hasCluster(home)
  const account = systemUserFor(data)
  if (account) openWay(home, account)
  if (isMade) fitData(home, { account, log })
  const binaries = await findBinaries({ home, account, durable, major: dataMajor(home) })
  if (!isMade) await makeCluster({ home, binaries, account, durable })
  return { binaries, data, socketFolder: socketFolderOf(home), account, durable, log }
}

/**
 * Starts the embedded database of `home`, which the first call makes, and waits until it accepts
 * connections. Throws if another live process holds the home. The database ends with this process,
 * however the process ends. If the database ends first, it is started again.
 */
export const startEmbedded = async ({
  home: path,
  log,
  durable = true,
}: Options): Promise<Embedded> => {
  await using stack = new AsyncDisposableStack()
  const home = makeHome(path)
  stack.use(acquireLock(lockOf(home)))
  const options = await prepare(home, log, durable)
  const password = databasePassword(home)
  if (!password)
    throw new Error(
      `the password of the database under ${home} cannot be read: start as the user who made it`,
    )
  if (dirname(options.socketFolder) !== home)
    stack.defer(() => rmSync(options.socketFolder, { recursive: true, force: true }))
  stack.use(
    supervise(await start(options), { data: options.data, restart: () => start(options), log }),
  )
  const target = targetAt(options.socketFolder, password)
  await createDatabase(target)
  log.info({ home }, `embedded Postgres ${options.binaries.major} is ready`)
  const rest = stack.move()
  return { target, [Symbol.asyncDispose]: () => rest.disposeAsync() }
}

const answers = async (target: DatabaseAddress): Promise<boolean> => {
  const sql = postgres({ ...target, max: 1, connect_timeout: 5 })
  try {
    await sql`select 1`
    return true
  } catch {
    return false
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/**
 * The database of the server that now runs on `home`, for a command that runs beside it. Undefined
 * if no server runs, or if its database is not ready yet.
 */
export const findEmbedded = async (path: string): Promise<DatabaseAddress | undefined> => {
  if (!existsSync(path)) return undefined
  const home = realpathSync(path)
  if (lockHolder(lockOf(home)) === undefined) return undefined
  const running = readPidFile(dataOf(home))
  const password = databasePassword(home)
  if (!running?.ready || !password) return undefined
  const target = targetAt(running.socketFolder, password)
  return (await answers(target)) ? target : undefined
}
