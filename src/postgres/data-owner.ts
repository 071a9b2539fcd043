/**
 * Whose the data are. A copy that was made without owners and modes, as by `cp -r`, belongs to
 * whoever made it, and Postgres cannot read it or refuses it.
 */
import { chmodSync, lchownSync, lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '#kernel/log'
import { CLUSTER_FOLDER, dataOf } from './cluster.ts'
import type { SystemUser } from './process.ts'

const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600]

const codeOf = (cause: unknown): unknown => (cause as { code?: unknown } | null)?.code

const isNotThere = (cause: unknown): boolean =>
  codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR'

const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`

/** What a root of the machine runs so that everything in the folder belongs to the user alone. */
const mendingOf = (folder: string, { uid, gid }: SystemUser): string =>
  `chown -R ${uid}:${gid} ${quoted(folder)} && chmod -R u+rwX,go-rwx ${quoted(folder)}`

const refusal = (folder: string, user: SystemUser, cause?: unknown): Error =>
  new Error(
    `the database in ${folder} is not that of user ${user.uid}, who must run it, as if the folder had been copied without its owner. As root, run: ${mendingOf(folder, user)}`,
    { cause },
  )

/** Gives everything in the folder to the user. A link is not followed. */
export const chownAll = (folder: string, { uid, gid }: SystemUser): void => {
  lchownSync(folder, uid, gid)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    lchownSync(join(entry.parentPath, entry.name), uid, gid)
}

const closeAll = (folder: string): void => {
  chmodSync(folder, FOLDER_MODE)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) closeAll(path)
    else if (entry.isFile()) chmodSync(path, FILE_MODE)
  }
}

const ourselves = (): SystemUser => ({
  uid: process.getuid?.() ?? 0,
  gid: process.getgid?.() ?? 0,
})

/** Whether the home has a database. Throws if it is closed to us. */
export const hasData = (home: string, self: SystemUser = ourselves()): boolean => {
  try {
    lstatSync(dataOf(home))
    return true
  } catch (cause) {
    if (isNotThere(cause)) return false
    throw refusal(home, self, cause)
  }
}

/** What every database has. A copy changes the owner of all files, so these stand for them. */
const SAMPLES = ['PG_VERSION', 'postgresql.conf', 'global', 'global/pg_control', 'base']

const statIfThere = (path: string): Stats | undefined => {
  try {
    return lstatSync(path)
  } catch (cause) {
    if (isNotThere(cause)) return undefined
    throw cause
  }
}

const isUsable = (one: Stats, { uid }: SystemUser): boolean => {
  const needed = one.isDirectory() ? FOLDER_MODE : FILE_MODE
  return one.uid === uid && (one.mode & needed) === needed
}

/** Postgres refuses data that others could change, or list. */
const isFit = (data: string, user: SystemUser): boolean =>
  (lstatSync(data).mode & 0o027) === 0 &&
  ['.', ...SAMPLES].every((name) => {
    const found = statIfThere(join(data, name))
    return found === undefined || isUsable(found, user)
  })

/**
 * Makes the data those of the user who runs the database: `account` if we are root, or else
 * ourselves. Throws, with what mends it, if that is not in our power.
 */
export const fitData = (
  home: string,
  {
    account,
    log,
    self = ourselves(),
  }: { account?: SystemUser | undefined; log: Log; self?: SystemUser },
): void => {
  const data = dataOf(home)
  const user = account ?? self
  const mend = (): boolean => {
    if (account) chmodSync(join(home, CLUSTER_FOLDER), 0o711)
    if (isFit(data, user)) return true
    if (account) chownAll(data, account)
    closeAll(data)
    log.warn({ home, user: user.uid }, 'the database was copied without its owner or modes: mended')
    return isFit(data, user)
  }
  let failure: unknown
  try {
    if (mend()) return
  } catch (cause) {
    failure = cause
  }
  throw refusal(account ? data : home, user, failure)
}
