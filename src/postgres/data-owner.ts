/**
 * Whose the data are. A copy that was made without owners and modes, as by `cp -r`, belongs to
 * whoever made it, and Postgres cannot read it or refuses it.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  lchownSync,
  lstatSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Log } from '#kernel/log'
import { CLUSTER_FOLDER, dataOf } from './cluster.ts'
import { CHILD_ENV, type SystemUser } from './process.ts'

const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600]

const codeOf = (cause: unknown): unknown => (cause as { code?: unknown } | null)?.code

const isNotThere = (cause: unknown): boolean =>
  codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR'

const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`

/** The modes that Postgres accepts, and that keep everybody else out. */
const CLOSED = 'u+rwX,go-rwx'

/** What a root of the machine runs so that everything in the folder belongs to the user alone. */
const mendingOf = (folder: string, { uid, gid }: SystemUser): string =>
  `chown -R ${uid}:${gid} ${quoted(folder)} && chmod -R ${CLOSED} ${quoted(folder)}`

const refusal = (folder: string, user: SystemUser, cause?: unknown): Error =>
  new Error(
    `the database in ${folder} is not that of user ${user.uid}, who must run it, as if the folder had been copied without its owner. As root, run: ${mendingOf(folder, user)}`,
    { cause },
  )

/**
 * Gives a folder of root to the user alone, with everything in it. Each folder is closed before it
 * is entered and given away after it, so meanwhile nobody can put anything there. Neither a link is
 * followed nor a folder entered in which others could. One of the user was given to them by a start
 * that was killed.
 */
export const giveAll = (folder: string, user: SystemUser): void => {
  chmodSync(folder, FOLDER_MODE)
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const its = lstatSync(path)
    if (its.uid !== 0 && its.uid !== user.uid) throw new Error(`${path} belongs to user ${its.uid}`)
    if (its.isDirectory()) {
      if (its.uid === 0) giveAll(path, user)
    } else {
      if (its.isFile()) chmodSync(path, FILE_MODE)
      lchownSync(path, user.uid, user.gid)
    }
  }
  lchownSync(folder, user.uid, user.gid)
}

/**
 * As the user whose folder it is: what they have put there may lead to where only root may change
 * anything.
 */
const closeAll = (data: string, account: SystemUser | undefined): void => {
  spawnSync('chmod', ['-R', CLOSED, data], { ...account, cwd: '/', env: CHILD_ENV })
}

const ourselves = (): SystemUser => ({
  uid: process.getuid?.() ?? 0,
  gid: process.getgid?.() ?? 0,
})

const closedTo = (home: string, user: SystemUser, cause: unknown): Error =>
  new Error(
    `${home} is closed to user ${user.uid}: run this as the user to whom it belongs. If the folder has been copied without its owner, run as root: ${mendingOf(home, user)}`,
    { cause },
  )

/** Whether the home has a database, running or not. Throws if it is closed to us. */
export const hasCluster = (home: string, self: SystemUser = ourselves()): boolean => {
  try {
    lstatSync(dataOf(home))
    return true
  } catch (cause) {
    if (isNotThere(cause)) return false
    throw closedTo(home, self, cause)
  }
}

/** What every database has. A copy changes the owner of all files, so these stand for them. */
const SAMPLES = ['PG_VERSION', 'postgresql.conf', 'global', 'global/pg_control', 'base']

const statIfThere = (path: string): Stats | undefined => {
  try {
    return statSync(path)
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
  (statSync(data).mode & 0o027) === 0 &&
  ['.', ...SAMPLES].every((name) => {
    const found = statIfThere(join(data, name))
    return found === undefined || isUsable(found, user)
  })

/** Whether it is a folder of root itself, and no link to one. */
const isRoots = (folder: string): boolean => {
  const its = lstatSync(folder)
  return its.isDirectory() && its.uid === 0
}

/** The data, on whatever disk they are. */
const realData = (home: string): string => {
  const data = dataOf(home)
  try {
    return realpathSync(data)
  } catch (cause) {
    if (!isNotThere(cause)) throw cause
    throw new Error(`${data} leads to a folder that is not there: is its disk mounted?`, { cause })
  }
}

/**
 * Makes the data those of the user who runs the database: `account` if we are root, or else
 * ourselves. Owners are changed only where all folders are root's, so that nobody else can have put
 * anything there. Throws, with what mends it, if that is not in our power.
 */
export const fitData = (
  home: string,
  {
    account,
    log,
    self = ourselves(),
  }: { account?: SystemUser | undefined; log: Log; self?: SystemUser },
): void => {
  const data = realData(home)
  const user = account ?? self
  const cluster = join(home, CLUSTER_FOLDER)
  const mend = (): boolean => {
    if (account && [home, cluster].every(isRoots)) chmodSync(cluster, 0o711)
    if (isFit(data, user)) return true
    if (account && [home, cluster, dataOf(home)].every(isRoots)) giveAll(data, account)
    else closeAll(data, account)
    const isMended = isFit(data, user)
    if (isMended)
      log.warn(
        { home, user: user.uid },
        'the database was copied without its owner or modes: mended',
      )
    return isMended
  }
  let failure: unknown
  try {
    if (mend()) return
  } catch (cause) {
    failure = cause
  }
  throw refusal(account || data !== dataOf(home) ? data : home, user, failure)
}
