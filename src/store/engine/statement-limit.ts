/** A shorter limit for the statements of one part of a transaction. */
import type { Sql } from './db.ts'
import { mapPart, one, type Part } from './load.ts'

/**
 * From the next statement of the transaction on, each statement may take this long. Read together
 * with a letter's other parts, this costs nothing.
 */
export const limitPart = (limitMs: number): Part<undefined> =>
  mapPart(
    one({}, (sql) => sql`select set_config('statement_timeout', ${String(limitMs)}, true)`),
    () => undefined,
  )

/**
 * Runs `body` under a limit that `limitPart` has set. Later statements of the transaction have the
 * session's own limit again.
 */
export const underLimit = async <T>(sql: Sql, body: () => Promise<T>): Promise<T> => {
  try {
    return await body()
  } finally {
    // Nothing can be set in a failed transaction, and nothing needs to be, because it is rolled
    // back.
    await Promise.resolve(sql`set local statement_timeout to default`).catch(() => undefined)
  }
}
