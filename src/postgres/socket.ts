import { createHash } from 'node:crypto'
import { chmodSync, chownSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openWay } from './account.ts'
import type { SystemUser } from './process.ts'

/** Names the socket's file. Nothing listens on a TCP port. */
export const PORT = 5432

const FILE = `.s.PGSQL.${PORT}`

/** A socket's address holds 104 bytes on macOS and 108 on Linux. */
const LONGEST_PATH = 100

const inHome = (home: string): string => join(home, 'run')

/**
 * The folder of the socket: under the home, or in the system's temporary folder if that path is too
 * long for a socket.
 */
export const socketFolderOf = (home: string): string => {
  if (Buffer.byteLength(join(inHome(home), FILE)) <= LONGEST_PATH) return inHome(home)
  return join(tmpdir(), `tendril-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`)
}

/**
 * Makes the folder, open only to the database's user. Throws if another user has made it before.
 */
export const makeSocketFolder = (folder: string, account: SystemUser | undefined): void => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  const own = found.uid === process.getuid?.() || found.uid === account?.uid
  if (!found.isDirectory() || !own)
    throw new Error(
      `${folder}, the folder of the database's socket, belongs to another user: remove it`,
    )
  if (account) chownSync(folder, account.uid, account.gid)
  chmodSync(folder, 0o700)
  if (account) openWay(dirname(folder), account)
}

/**
 * Removes the socket and its lock file, which keeps Postgres from starting if it names any live
 * process. Call it only if no Postgres uses the socket.
 */
export const clearSocket = (folder: string): void => {
  for (const name of [FILE, `${FILE}.lock`]) rmSync(join(folder, name), { force: true })
}
