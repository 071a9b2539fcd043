/** The deployment's secret. Every other key is derived from it. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '#config/config'
import { AppError } from '#kernel/errors'
import { parseSecret } from '#kernel/secret'
import { homeOf } from './home.ts'

const pathIn = (home: string): string => join(home, 'secret.key')

const readOrMake = async (home: string): Promise<string> => {
  const path = pathIn(home)
  await mkdir(home, { recursive: true })
  // The file appears whole or not at all, however this process ends. If several processes start at
  // once, one makes the file and all read it.
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  if (!existsSync(path)) {
    await writeFile(draft, `${randomBytes(32).toString('base64')}\n`, {
      flag: 'wx',
      mode: 0o600,
      flush: true,
    })
    await link(draft, path).catch((cause) => {
      if (cause.code !== 'EEXIST') throw cause
    })
    await rm(draft)
  }
  return (await readFile(path, 'utf8')).trim()
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
 * TENDRIL_SECRET_KEY, or the key that the first start made under TENDRIL_HOME, beside the embedded
 * database.
 */
export async function secretKey(config: Config): Promise<Buffer> {
  requireSecretKey(config)
  const secret = parseSecret(config.secretKey ?? (await readOrMake(homeOf(config))))
  if (!secret)
    throw new AppError(
      'invalid_input',
      `${pathIn(homeOf(config))} must contain 32 bytes in base64: the file was changed or is incomplete`,
    )
  return secret
}
