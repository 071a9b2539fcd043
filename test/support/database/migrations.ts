/** Databases as earlier versions left them. */
import { readFileSync } from 'node:fs'
import postgres from 'postgres'
import { createLog } from '#kernel/log'
import type { ConnectionOptions } from '#store/engine/db'
import { migrate } from '#store/engine/migrate'
import { BASELINE, shippedMigrations } from '#store/engine/migrations'
import { emptyDb, type TestDatabase } from './db.ts'

interface Applied {
  name: string
  hash: string
}

/** The migrations of the last version before the baseline, in order. */
export const beforeBaseline: Applied[] = JSON.parse(
  readFileSync('test/data/migrations-before-baseline.json', 'utf8'),
)

/** Brings a database to the baseline alone. */
export const migrateToBaseline = (options: ConnectionOptions): Promise<void> =>
  migrate(
    options,
    createLog('silent'),
    shippedMigrations().filter(({ name }) => name === BASELINE),
  )

/**
 * A database with these migrations of before the baseline, which no server has used. Its schema is
 * the baseline's: where all of them were applied it is the same in every object and column, and
 * databases of fewer are refused before their schema matters.
 */
export async function earlierDb(applied: Applied[] = beforeBaseline): Promise<TestDatabase> {
  const database = await emptyDb()
  await migrateToBaseline(database.options)
  const sql = postgres({ ...database.options, max: 1, onnotice: () => {} })
  try {
    await sql`delete from migration`
    await sql`insert into migration ${sql(applied)}`
  } finally {
    await sql.end()
  }
  return database
}
