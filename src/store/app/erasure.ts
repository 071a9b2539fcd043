/** Erases workspaces whose grace period is over. sql/000007-erasure.sql says what may be erased, and in which order. */
import type { Db } from '../engine/db.ts'

/** Workspaces due for erasure, the longest overdue first. */
export const tenantsToErase = (db: Db, limit: number): Promise<string[]> =>
  db.system(async (sql) => {
    const rows = await sql<{
      id: string
    }>`select id from tenant where deletes_at <= now() order by deletes_at, id limit ${limit}`
    return rows.map(({ id }) => id)
  })

/** Erases up to `rows` rows of a workspace. False: nothing is left, or another process is erasing it. */
export const eraseSome = (db: Db, tenantId: string, rows: number): Promise<boolean> =>
  db.system(async (sql) => {
    const [row] = await sql<{ more: boolean }>`select erase_tenant(${tenantId}, ${rows}) as more`
    return row!.more
  })
