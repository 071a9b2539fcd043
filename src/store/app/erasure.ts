/** The end of workspaces whose time is over; what may be erased, and in which order, is in the database (sql/000007-erasure.sql). */
import type { Db } from '../engine/db.ts'

/** Those that are to be erased by now, the one that has waited longest first. */
export const doomedTenants = (db: Db, limit: number): Promise<string[]> =>
  db.system(async (sql) => {
    const rows = (await sql`select id from tenant where deletes_at <= now() order by deletes_at, id limit ${limit}`) as unknown as {
      id: string
    }[]
    return rows.map(({ id }) => id)
  })

/** Erases so many rows of a workspace. False: nothing is left of it, or somebody else is at it. */
export const eraseSome = (db: Db, tenantId: string, rows: number): Promise<boolean> =>
  db.system(async (sql) => {
    const [row] = await sql<{ more: boolean }[]>`select erase_tenant(${tenantId}, ${rows}) as more`
    return row!.more
  })
