/** The deployment's secret. Every other key is derived from it. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, link, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '#config/config'
import { AppError } from '#kernel/errors'
import { parseSecret, type SecretKey, secretKeyOf } from '#kernel/secret'
import type { SecretKeys } from '#kernel/secret-keys'
import { homeOf } from './home.ts'

const KEY_FILE = 'secret.key'
/**
 * The key that `tendril admin secret rotate` rotates to. In a home that was restored during a
 * rotation, the old one: a start reads both files, and the database says which key is which.
 */
export const NEXT_FILE = 'secret-next.key'

const readOrMake = async (home: string): Promise<string> => {
  const path = join(home, KEY_FILE)
  await makeKeyFile(path)
  return (await readFile(path, 'utf8')).trim()
}

/** Leaves a file that is there as it is. Returns whether there was none. */
const makeKeyFile = async (path: string): Promise<boolean> => {
  const home = dirname(path)
  await mkdir(home, { recursive: true })
  // The file appears whole or not at all, however this process ends. If several processes start at
  // once, one makes the file and all read it.
  if (existsSync(path)) return false
  const draft = await draftOf(path, randomBytes(32))
  const isMade = await link(draft, path).then(
    () => true,
    (cause) => {
      if (cause.code !== 'EEXIST') throw cause
      return false
    },
  )
  await rm(draft)
  await flushFolder(home)
  return isMade
}

/** A file beside it with this key. */
const draftOf = async (path: string, key: Buffer): Promise<string> => {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, `${key.toString('base64')}\n`, { flag: 'wx', mode: 0o600, flush: true })
  await giveToServer(draft, dirname(path))
  return draft
}

/** A command of root makes it, and a server that may be no root reads it. */
const giveToServer = async (file: string, home: string): Promise<void> => {
  if (process.getuid?.() !== 0) return
  const key = join(home, KEY_FILE)
  const { uid, gid } = await stat(existsSync(key) ? key : home)
  await chown(file, uid, gid)
}

/** So that the names in it outlast a loss of power. */
const flushFolder = async (path: string): Promise<void> => {
  await using folder = await open(path)
  await folder.sync()
}

/** The key in a file. Another process may take the file away at any time. */
const readKey = async (path: string): Promise<string | undefined> => {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cause
  }
}

const keyIn = (text: string, file: string, config: Config): SecretKey => {
  const bytes = parseSecret(text)
  if (bytes) return secretKeyOf(bytes)
  throw new AppError(
    'invalid_input',
    `${join(homeOf(config), file)} must contain 32 bytes in base64: the file was changed or is incomplete`,
  )
}

/**
 * Makes the key that the next rotation rotates to, beside the present one. Throws if the keys of
 * this deployment come from the environment, or if there is one already.
 */
export const makeNextKey = async (config: Config): Promise<void> => {
  if (config.databaseUrl || config.secretKey || config.nextSecretKey)
    throw new AppError(
      'invalid_input',
      'the secret keys of this deployment come from the environment: set TENDRIL_SECRET_KEY_NEXT to 32 bytes in base64 on all servers; make them with `openssl rand -base64 32`',
    )
  const path = join(homeOf(config), NEXT_FILE)
  if (!(await makeKeyFile(path)))
    throw new AppError('conflict', `${path} is there already`, { reason: 'wrong_state' })
}

/**
 * After a rotation, makes the new key the only one of the home, if the keys come from its files.
 * Wherever it is stopped, the home has the new key in one of its two files. Returns whether the
 * files changed.
 */
export const settleKeyFiles = async (
  config: Config,
  { newest, isDropped }: Pick<SecretKeys, 'newest' | 'isDropped'>,
): Promise<boolean> => {
  if (config.databaseUrl || config.secretKey) return false
  const home = homeOf(config)
  const [path, next] = [join(home, KEY_FILE), join(home, NEXT_FILE)]
  const isCurrent = (await readKey(path)) === newest.bytes.toString('base64')
  if (!isCurrent) {
    await rename(await draftOf(path, newest.bytes), path)
    await flushFolder(home)
  }
  // A dropped key, as after a rotation that went back, would be in the way of the next one.
  const beside = parseSecret((await readKey(next)) ?? '')
  const fingerprint = beside && secretKeyOf(beside).fingerprint
  const isOver =
    fingerprint !== undefined && (fingerprint === newest.fingerprint || isDropped(fingerprint))
  if (isOver) await rm(next, { force: true })
  return !isCurrent || isOver
}

/** Throws if DATABASE_URL is set but no key is. */
export const requireSecretKey = ({ secretKey, databaseUrl }: Config): void => {
  if (!secretKey && databaseUrl)
    throw new AppError(
      'invalid_input',
      'TENDRIL_SECRET_KEY is required with DATABASE_URL: make one with `openssl rand -base64 32`, and keep it',
    )
}

/**
 * The keys that this process knows: TENDRIL_SECRET_KEY, or the key that the first start made under
 * TENDRIL_HOME, beside the embedded database; and the next one, if there is any.
 */
export async function secretKeys(config: Config): Promise<SecretKey[]> {
  requireSecretKey(config)
  const home = homeOf(config)
  // Before the present key: a process that ends a rotation writes that file first, and then takes
  // this one away.
  const beside = config.secretKey ? undefined : await readKey(join(home, NEXT_FILE))
  const next = config.nextSecretKey ?? beside
  const text = config.secretKey ?? (await readOrMake(home))
  const key = keyIn(text, KEY_FILE, config)
  const known = [key, ...(next === undefined ? [] : [keyIn(next, NEXT_FILE, config)])]
  return known.filter(({ fingerprint }, at) => at === 0 || fingerprint !== key.fingerprint)
}

/** The keys that a backup has. */
export interface BackupKeys {
  /** What new values are made under. */
  newest: SecretKey
  /** The old one of a rotation that is not over, if it is known here: a server needs both. */
  old?: SecretKey | undefined
}

/**
 * The keys that a backup of the database needs. Throws if the database was used with others. No
 * rotation begins while a backup is made, so call this once no other backup can be. `fit`: which of
 * these keys the database uses, as it is in the backup.
 */
export const keysForBackup = async (
  config: Config,
  fit: (known: readonly SecretKey[]) => Promise<SecretKeys>,
): Promise<BackupKeys> => {
  const { newest, old } = await fit(await secretKeys(config))
  return { newest, old }
}
