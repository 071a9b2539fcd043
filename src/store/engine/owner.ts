/** Queries made before there are pools, as the role of the URL, which owns the tables. */
import postgres from 'postgres'
import type { ConnectionOptions } from './db.ts'
import { type Sql, sqlOf } from './sql.ts'

/** Connects just for these queries. */
export const asOwner = async <T>(
  options: ConnectionOptions,
  ask: (sql: postgres.Sql) => Promise<T>,
): Promise<T> => {
  const sql = postgres({ ...options, max: 1, connect_timeout: 10, onnotice: () => {} })
  try {
    return await ask(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** The same in one transaction. */
export const transactAsOwner = <T>(
  options: ConnectionOptions,
  ask: (sql: Sql) => Promise<T>,
): Promise<T> => asOwner(options, async (sql) => (await sql.begin((tx) => ask(sqlOf(tx)))) as T)
