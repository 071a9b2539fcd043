/** The deployment's secret, from which every other key is derived. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#kernel/errors'
import { parseSecret } from '#kernel/secret'
import type { Config } from './config.ts'

const readOrMake = async (home: string): Promise<string> => {
  const path = join(home, 'secret.key')
  await mkdir(home, { recursive: true })
  // It appears whole or not at all, however this process ends. Of several that start at once one makes it; all read what stands there.
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  if (!existsSync(path)) {
    await writeFile(draft, `${randomBytes(32).toString('base64')}\n`, { flag: 'wx', mode: 0o600, flush: true })
    await link(draft, path).catch((cause) => {
      if (cause.code !== 'EEXIST') throw cause
    })
    await rm(draft)
  }
  return (await readFile(path, 'utf8')).trim()
}

/** TENDRIL_SECRET_KEY, or a key made once under TENDRIL_HOME beside the embedded database. */
export async function secretKey({ secretKey, databaseUrl, home }: Config): Promise<Buffer> {
  if (!secretKey && databaseUrl)
    throw new AppError(
      'invalid_input',
      'TENDRIL_SECRET_KEY is required with DATABASE_URL: make one with `openssl rand -base64 32`, and keep it',
    )
  const text = secretKey ?? (await readOrMake(home))
  const secret = parseSecret(text)
  if (!secret) throw new AppError('invalid_input', 'TENDRIL_SECRET_KEY must be 32 bytes in base64: make one with `openssl rand -base64 32`')
  return secret
}
