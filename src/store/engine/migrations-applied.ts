/** Whether the database has the migrations of this program, for a server that is running. */
import type { Db } from './db.ts'
import { shippedMigrations } from './migrations.ts'

/** Read once: the texts are files. */
let shipped: string[] | undefined

/** Whether the database has exactly the migrations that this program ships with. */
export const isMigrated = async (db: Db): Promise<boolean> => {
  shipped ??= shippedMigrations().map(({ name }) => name)
  const rows = await db.system(
    (sql) => sql<{ name: string }>`select name from migration order by name`,
  )
  const known = new Set(shipped)
  return rows.length === known.size && rows.every(({ name }) => known.has(name))
}
