/** Deletion of rows past their retention, which the database defines (sql/000020-sweep.sql). */
import type { Db } from '../engine/db.ts'

/** Up to `limit` workspaces after this id, in order of id. */
export const tenantsAfter = (db: Db, after: string, limit: number): Promise<string[]> =>
  db.system(async (sql) => {
    const rows = await sql<{ id: string }>`select id from tenant where id > ${after} order by id limit ${limit}`
    return rows.map(({ id }) => id)
  })

/** Deletes some expired rows of a workspace. `keepDays` applies to the audit, and to rows that only it refers to. False: none are left. */
export const sweepSome = (db: Db, tenantId: string, { keepDays, rows }: { keepDays: number; rows: number }): Promise<boolean> =>
  db.system(async (sql) => {
    const [row] = await sql<{ more: boolean }>`
      select sweep_tenant(${tenantId}, clock_timestamp() - ${keepDays} * interval '1 day', ${rows}) as more`
    return row!.more
  })
