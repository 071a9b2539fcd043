/** The end of what is kept for a while; what that is, is in the database (sql/000020-sweep.sql). */
import type { Db } from './db.ts'

/** Some workspaces, in the order of their ids, after this one. */
export const tenantsAfter = (db: Db, after: string, limit: number): Promise<string[]> =>
  db.system(async (sql) => {
    const rows = (await sql`select id from tenant where id > ${after} order by id limit ${limit}`) as unknown as { id: string }[]
    return rows.map(({ id }) => id)
  })

/** Removes some rows of a workspace whose time is over. `keepDays`: of the audit, and of what only it names. False: none are left. */
export const sweepSome = (db: Db, tenantId: string, { keepDays, rows }: { keepDays: number; rows: number }): Promise<boolean> =>
  db.system(async (sql) => {
    const [row] = await sql<{ more: boolean }[]>`
      select sweep_tenant(${tenantId}, clock_timestamp() - ${keepDays} * interval '1 day', ${rows}) as more`
    return row!.more
  })
