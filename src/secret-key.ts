/** The deployment's secret, from which every other key is derived. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#kernel/errors'
import { parseSecret } from '#kernel/secret'
import type { Config } from './config.ts'

const readOrMake = async (home: string): Promise<string> => {
  const path = join(home, 'secret.key')
  await mkdir(home, { recursive: true })
  // Of several processes that start at once one makes it; all read what stands there.
  await writeFile(path, `${randomBytes(32).toString('base64')}\n`, { flag: 'wx', mode: 0o600 }).catch((cause) => {
    if (cause.code !== 'EEXIST') throw cause
  })
  return (await readFile(path, 'utf8')).trim()
}

/** TENDRIL_SECRET_KEY, or a key made once under TENDRIL_HOME beside the embedded database. */
export async function secretKey({ secretKey, databaseUrl, home }: Config): Promise<Buffer> {
  if (!secretKey && databaseUrl)
    throw new AppError('invalid_input', 'TENDRIL_SECRET_KEY is required with DATABASE_URL: make one with `openssl rand -base64 32`, and keep it')
  const text = secretKey ?? (await readOrMake(home))
  const secret = parseSecret(text)
  if (!secret) throw new AppError('invalid_input', 'TENDRIL_SECRET_KEY must be 32 bytes in base64: make one with `openssl rand -base64 32`')
  return secret
}
