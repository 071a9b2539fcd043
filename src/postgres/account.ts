import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { CHILD_ENV, readIfThere, type SystemUser } from './process.ts'

const byName = (name: string): SystemUser | undefined => {
  const line = readIfThere('/etc/passwd')
    ?.split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  // macOS writes the ids of `nobody` as -2, which stands for 2^32 - 2.
  return uid && gid ? { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 } : undefined
}

/**
 * Undefined if we are not root: the database then runs as ourselves. Existing data keeps its owner,
 * so that it stays readable if a `postgres` user appears later, or if an ordinary user made the
 * home.
 */
export const systemUserFor = (data: string): SystemUser | undefined => {
  if (process.getuid?.() !== 0) return undefined
  const owner = existsSync(data) ? statSync(data) : undefined
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const account = byName('postgres') ?? byName('nobody')
  if (account) return account
  throw new Error(
    'the embedded database cannot run as root, and /etc/passwd has neither `postgres` nor `nobody`: start as another user or set DATABASE_URL',
  )
}

const pathTo = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [...pathTo(dirname(folder)), folder]

const FIRST_CLOSED = 'for folder do [ -x "$folder" ] || { printf %s "$folder"; exit 1; }; done'

/**
 * Lets `account` pass through `home`. If a parent folder stays closed to it, throws an error that
 * names the folder.
 */
export const openWay = (home: string, account: SystemUser): void => {
  const mode = statSync(home).mode & 0o7777
  if ((mode & 0o011) !== 0o011) chmodSync(home, mode | 0o011)
  // Asks the kernel as that user, because mode bits do not show access lists and mounts.
  const { status, stdout } = spawnSync('/bin/sh', ['-c', FIRST_CLOSED, 'sh', ...pathTo(home)], {
    ...account,
    cwd: '/',
    env: CHILD_ENV,
    encoding: 'utf8',
  })
  if (status === 0) return
  throw new Error(
    `the embedded database runs as user ${account.uid}, to whom ${stdout || home} is closed: set TENDRIL_HOME to a folder outside it, or set DATABASE_URL`,
  )
}
