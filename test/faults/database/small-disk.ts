/**
 * A server with the embedded database on a small disk of its own that can be filled: a tmpfs in a
 * mount namespace, which ends with the server, however that ends. An ordinary user gets it in a
 * user namespace, where the system allows one.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { newApiKey } from '#kernel/api-key'
import { databasePassword, dataOf } from '#postgres/cluster'
import { readPidFile } from '#postgres/orphan'
import type { ConnectionOptions } from '#store/engine/db'
import { eventually } from '#test/support/eventually'
import { temporaryFolder } from '#test/support/folder'
import { type ServerProcess, startServer } from '#test/support/processes/server'
import { newTenants, recordLetters, type Tenant } from '../fleet.ts'
import type { End } from './outages.ts'

/**
 * `disk`: files of tables cannot grow (53100). `wal`: the write-ahead log cannot grow either, which
 * ends Postgres at once.
 */
export const fillings = ['disk', 'wal'] as const
export type Filling = (typeof fillings)[number]

export interface SmallDisk extends AsyncDisposable {
  owner: postgres.Sql
  process: ServerProcess
  tenants: Tenant[]
  /** Fills the disk; ending the outage frees it and waits for the database to answer. */
  fill(what: Filling): Promise<End>
  /** The longest time from freeing the disk until the database answered, in milliseconds. */
  worstBackMs(): number
}

/** The programs and an empty database take 100 MB of it. */
const SIZE_MB = 224
const BLOCK_BYTES = 65_536
const SMALLEST_BLOCK_BYTES = 512
const REFILL_EVERY_MS = 50
/** How much of the server's output an error ends with. */
const LAST_WORDS = 6_000
/** A log file holds 16 MB; so many may be ready. */
const MOST_LOG_FILES = 20

const mounting = `mount -t tmpfs -o size=${SIZE_MB}m,mode=755 tmpfs "$0" && exec`

/** A command that mounts the disk on `folder`, and then becomes the command that follows it. */
const onDisk = (folder: string): string[] => {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  return uid === 0
    ? ['unshare', '--mount', 'sh', '-c', `${mounting} "$@"`, folder]
    : [
        ...['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'],
        ...[`${mounting} unshare --user --map-user=${uid} --map-group=${gid} -- "$@"`, folder],
      ]
}

/** Why this machine has no such disk for us, in a word or two; undefined if it has. */
export async function noSmallDisk(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'not Linux'
  await using folder = await temporaryFolder()
  const { error, status, stderr } = spawnSync(
    onDisk(folder.path)[0]!,
    [...onDisk(folder.path).slice(1), 'true'],
    { encoding: 'utf8' },
  )
  if (error || status !== 0)
    return (error?.message ?? stderr).trim().split('\n')[0] || 'no mount namespace'
  return undefined
}

/** Takes all room, including what becomes free. */
const startBallast = (path: string): Disposable => {
  const block = Buffer.alloc(BLOCK_BYTES, 1)
  const file = openSync(path, 'a')
  const fill = (): void => {
    for (let size = BLOCK_BYTES; size >= SMALLEST_BLOCK_BYTES; )
      try {
        writeSync(file, block, 0, size)
      } catch {
        size /= 2
      }
  }
  fill()
  const timer = setInterval(fill, REFILL_EVERY_MS)
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      closeSync(file)
      rmSync(path)
    },
  }
}

/** Switches to the next log file until there is none. */
const useUpLog = async (owner: postgres.Sql): Promise<void> => {
  for (let files = 0; files < MOST_LOG_FILES; files++) {
    const switching = owner`select pg_switch_wal(), pg_logical_emit_message(false, 'fault',
      'the next file')`
    if (!(await switching.then(() => true).catch(() => false))) return
  }
  throw new Error('the write-ahead log found room on a full disk')
}

const answers = (owner: postgres.Sql): Promise<boolean> =>
  owner`select 1`.then(
    () => true,
    () => false,
  )

export async function startSmallDisk(tenants: number): Promise<SmallDisk> {
  await using stack = new AsyncDisposableStack()
  const { path } = stack.use(await temporaryFolder())
  const server = stack.use(
    await startServer({ key: newApiKey(), home: path, within: onDisk(path) }),
  )
  // The namespace as seen from ours.
  const root = `/proc/${server.pid}/root`
  const home = join(root, path)
  const { socketFolder } = readPidFile(dataOf(home))!
  const host = join(root, socketFolder)
  const options: ConnectionOptions = {
    host,
    database: 'tendril',
    username: 'tendril',
    password: databasePassword(home)!,
  }
  const owner = postgres({ ...options, max: 2, backoff: () => 0.05, onnotice: () => {} })
  stack.defer(() => owner.end({ timeout: 1 }))
  await recordLetters(owner)
  const made = await newTenants(options, tenants)
  let worstBackMs = 0
  const owned = stack.move()
  return {
    owner,
    process: server,
    tenants: made,
    async fill(what) {
      const ballast = startBallast(join(home, 'ballast'))
      if (what === 'wal') await useUpLog(owner)
      return async () => {
        ballast[Symbol.dispose]()
        const freed = Date.now()
        await eventually(
          () => answers(owner),
          (ok) => ok,
        ).catch((cause) => {
          const last = server.output().slice(-LAST_WORDS)
          throw new Error(`${what}: the database does not answer; the server said last: ${last}`, {
            cause,
          })
        })
        worstBackMs = Math.max(worstBackMs, Date.now() - freed)
      }
    },
    worstBackMs: () => worstBackMs,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
