/** A server's start, as far as its logins, and sessions of one statement. */

import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { createLog } from '#kernel/log'
import { secretKeyOf } from '#kernel/secret'
import { checkCanary } from '#store/engine/canary'
import type { ConnectionOptions } from '#store/engine/db'
import { withLogins } from '#store/engine/logins'

export const silent = createLog('silent')
export const secret = randomBytes(32)

/** A log whose warnings can be read. */
export const listening = () => {
  const lines: string[] = []
  const log = createLog('warn', { write: (line: string) => void lines.push(line) })
  return { log, lines }
}

/** As a server starts: the mark of the secret, then the logins. */
export const entered = async (
  options: ConnectionOptions,
  key = secret,
  log = silent,
): Promise<ConnectionOptions> => {
  await checkCanary(options, [secretKeyOf(key)])
  return withLogins(options, secretKeyOf(key), log)
}

export const asking = async <T>(
  options: ConnectionOptions,
  ask: (sql: postgres.Sql) => Promise<T>,
): Promise<T> => {
  const sql = postgres({ ...options, max: 1, onnotice: () => {} })
  try {
    return await ask(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

export const codeOf = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'allowed',
    (cause) => String(cause.code),
  )

export const logsIn = (options: ConnectionOptions): Promise<string> =>
  codeOf(asking(options, (sql) => sql`select 1`))
