import { createHmac, timingSafeEqual } from 'node:crypto'
import type postgres from 'postgres'
import { AppError } from '#kernel/errors'
import type { ConnectionOptions } from './db.ts'
import { asOwner } from './owner.ts'

const DIFFERS =
  'TENDRIL_SECRET_KEY differs from the key that this database was created with; start with that key'

const markOf = (key: Buffer): Buffer => createHmac('sha256', key).update('canary').digest()

const requireMark = async (sql: postgres.Sql, canary: Buffer): Promise<void> => {
  const [row] = await sql<{ canary: Buffer }[]>`select canary from deployment`
  if (row && !timingSafeEqual(row.canary, canary)) throw new AppError('invalid_input', DIFFERS)
}

/**
 * Refuses a database that was used with another secret, because its encrypted data would be
 * unreadable. Changes nothing. A database without a mark, such as an empty one, fits any secret.
 * Runs as the role of the URL, because the server's own roles cannot see the table.
 */
export const requireFittingSecret = (options: ConnectionOptions, key: Buffer): Promise<void> =>
  asOwner(options, async (sql) => {
    const [found] = await sql`select to_regclass('deployment') is not null as marked`
    if (found!.marked) await requireMark(sql, markOf(key))
  })

/** The same check for a database with a schema. The first server that uses it writes the mark. */
export const checkCanary = (options: ConnectionOptions, key: Buffer): Promise<void> =>
  asOwner(options, async (sql) => {
    const canary = markOf(key)
    await sql`insert into deployment (canary) values (${canary}) on conflict do nothing`
    await requireMark(sql, canary)
  })
