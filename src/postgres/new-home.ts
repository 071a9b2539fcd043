/**
 * A home that is filled from a backup. All is written into a folder inside it, which nothing reads,
 * and moved to its place in the end: the database last, because it makes the home one.
 */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { openWay, systemUserFor } from './account.ts'
import { CLUSTER_FOLDER } from './cluster.ts'
import { giveAll } from './data-owner.ts'
import { acquireLock } from './lock.ts'
import { runProgram } from './process.ts'
import { lockOf, makeHome } from './start.ts'

const MAKING = 'restoring-'

/** What would be lost, or taken for part of the backup. */
const TAKEN = [CLUSTER_FOLDER, 'secret.key', 'secret-next.key']

export interface NewHome extends Disposable {
  /** Without symbolic links. */
  path: string
  /** Where everything is written: `postgres/data`, `postgres/password` and further files. */
  folder: string
  /** Moves everything to its place. */
  keep(): Promise<void>
}

/** Throws if the folder is already the home of a deployment. Changes nothing. */
export const requireNoHome = (path: string): void => {
  if (!existsSync(path)) return
  if (!statSync(path).isDirectory()) throw new Error(`${path} is not a folder`)
  const found = TAKEN.find((name) => existsSync(join(path, name)))
  if (found !== undefined)
    throw new Error(
      `${path} is the home of a deployment already (it has ${found}): nothing is restored over one, so name another folder with --home`,
    )
}

const moveAll = async (folder: string, home: string): Promise<void> => {
  const account = systemUserFor(join(home, CLUSTER_FOLDER, 'data'))
  if (account) {
    chmodSync(join(folder, CLUSTER_FOLDER), 0o711)
    giveAll(join(folder, CLUSTER_FOLDER, 'data'), account)
  }
  await runProgram(['sync'])
  // The binaries of Postgres may be there already.
  for (const name of readdirSync(folder).filter((one) => one !== CLUSTER_FOLDER))
    if (!existsSync(join(home, name)) || statSync(join(folder, name)).isFile())
      renameSync(join(folder, name), join(home, name))
  renameSync(join(folder, CLUSTER_FOLDER), join(home, CLUSTER_FOLDER))
  await runProgram(['sync'])
}

const removeIfEmpty = (folder: string): void => {
  try {
    rmdirSync(folder)
  } catch {
    // Somebody else has put something into it.
  }
}

/**
 * Takes a home for a restore, and makes the folder if there is none. Throws if it is in use or has
 * data. Disposing removes what was not kept.
 */
export const claimNewHome = (path: string): NewHome => {
  requireNoHome(path)
  const wasThere = existsSync(path)
  const home = makeHome(path)
  using stack = new DisposableStack()
  if (!wasThere) stack.defer(() => removeIfEmpty(home))
  stack.use(acquireLock(lockOf(home)))
  // Another restore may have ended a moment ago.
  requireNoHome(home)
  for (const name of readdirSync(home))
    if (name.startsWith(MAKING)) rmSync(join(home, name), { recursive: true, force: true })
  const account = systemUserFor(join(home, CLUSTER_FOLDER, 'data'))
  if (account) openWay(home, account)
  const folder = mkdtempSync(join(home, MAKING))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const rest = stack.move()
  return {
    path: home,
    folder,
    keep: () => moveAll(folder, home),
    [Symbol.dispose]: () => rest.dispose(),
  }
}
