/** A shorter limit for the statements of one part of a transaction. */
import type { Sql } from './db.ts'
import { mapPart, one, type Part } from './load.ts'

/**
 * From the next statement of the transaction on, each may take this long. Read with a letter's
 * other parts, it costs nothing.
 */
export const limitPart = (limitMs: number): Part<undefined> =>
  mapPart(
    one({}, (sql) => sql`select set_config('statement_timeout', ${String(limitMs)}, true)`),
    () => undefined,
  )

/**
 * Runs `body` under a limit that `limitPart` has set. The transaction's later statements have the
 * session's own limit again.
 */
export const underLimit = async <T>(sql: Sql, body: () => Promise<T>): Promise<T> => {
  try {
    return await body()
  } finally {
    // In a transaction that has failed nothing can be set, and nothing needs to be: it is rolled
    // back.
    await Promise.resolve(sql`set local statement_timeout to default`).catch(() => undefined)
  }
}
