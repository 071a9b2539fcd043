import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { randomBase62 } from '#kernel/ids'
import type { Binaries } from './binaries.ts'
import type { SystemUser } from './process.ts'
import { readIfThere, runProgram } from './process.ts'

/**
 * The folder under the home that holds the data and its password. It appears whole or not at all.
 */
export const CLUSTER_FOLDER = 'postgres'
const MAKING = `${CLUSTER_FOLDER}.new-`

/** The role that owns the database. */
export const ROLE = 'tendril'

const PASSWORD_LENGTH = 32

/** The data directory of the database under `home`, whether or not it exists yet. */
export const dataOf = (home: string): string => join(home, CLUSTER_FOLDER, 'data')

/** The password of `ROLE`; undefined if there is no data yet. */
export const databasePassword = (home: string): string | undefined =>
  readIfThere(join(home, CLUSTER_FOLDER, 'password'))

/** The major version of the data under `home`; undefined if there is none. */
export const dataMajor = (home: string): number | undefined => {
  const version = readIfThere(join(dataOf(home), 'PG_VERSION'))
  return version === undefined ? undefined : Number.parseInt(version, 10)
}

/**
 * From version 17 on Postgres brings the locale itself; before that, the operating system must have
 * it.
 */
const locale = (major: number): string[] =>
  major >= 17
    ? ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    : ['--locale=C.UTF-8']

interface Make {
  home: string
  binaries: Binaries
  account: SystemUser | undefined
  durable: boolean
}

const initdb = async ({ binaries, account, durable }: Make, folder: string): Promise<void> => {
  const options = [
    '--encoding=UTF8',
    '--data-checksums',
    '--auth-local=scram-sha-256',
    '--auth-host=reject',
    '--no-instructions',
  ]
  const { code, stdout, stderr } = await runProgram(
    [
      ...[
        binaries.initdb,
        `--pgdata=${join(folder, 'data')}`,
        `--username=${ROLE}`,
        `--pwfile=${join(folder, 'password')}`,
      ],
      ...[
        ...options,
        ...locale(binaries.major),
        ...(durable ? [] : ['--no-sync', '-c', 'scram_iterations=1']),
      ],
    ],
    account,
  )
  if (code !== 0)
    throw new Error(
      `initdb failed, the embedded database cannot be made: ${(stderr || stdout).trim()}`,
    )
}

const discard = (folder: string): void => {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // The initdb of a killed server still writes to it. The next call removes it.
  }
}

/**
 * Makes the data under `home`. If it is killed, it leaves a folder under another name, which the
 * next call removes.
 */
export const makeCluster = async (make: Make): Promise<void> => {
  const { home, account, durable } = make
  for (const name of readdirSync(home)) if (name.startsWith(MAKING)) discard(join(home, name))
  const folder = mkdtempSync(join(home, MAKING))
  const [data, password] = [join(folder, 'data'), join(folder, 'password')]
  try {
    mkdirSync(data, { mode: 0o700 })
    writeFileSync(password, randomBase62(PASSWORD_LENGTH), { mode: 0o600, flush: true })
    if (account) {
      chmodSync(folder, 0o711)
      for (const path of [data, password]) chownSync(path, account.uid, account.gid)
    }
    await initdb(make, folder)
    if (account) chownSync(password, 0, 0)
    if (durable) await runProgram(['sync'])
    renameSync(folder, join(home, CLUSTER_FOLDER))
  } catch (error) {
    discard(folder)
    throw error
  }
}
