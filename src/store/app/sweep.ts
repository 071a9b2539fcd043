/**
 * Deletion of rows past their retention, which the database defines (sql/000053-one-sweep.sql, sql/000057-sweep-channels.sql,
 * sql/000049-files.sql, sql/000051-artifacts.sql, sql/000065-warnings.sql, sql/000070-erase-deleted.sql).
 */
import type { Db } from '../engine/db.ts'

/** Up to `limit` workspaces after this id, in order of id. */
export const tenantsAfter = (db: Db, after: string, limit: number): Promise<string[]> =>
  db.system(async (sql) => {
    const rows = await sql<{ id: string }>`select id from tenant where id > ${after} order by id limit ${limit}`
    return rows.map(({ id }) => id)
  })

export interface Retention {
  /** Of the audit, and of rows that only it refers to. */
  keepDays: number
  /** Of what jobs of the agent did. */
  agentKeepDays: number
}

/** Deletes some expired rows of a workspace. False: none are left. */
export const sweepSome = (db: Db, tenantId: string, { keepDays, agentKeepDays, rows }: Retention & { rows: number }): Promise<boolean> =>
  db.system(async (sql) => {
    const [row] = await sql<{ more: boolean }>`
      select bool_or(part) as more from unnest(array[
        sweep_inbound(${tenantId}, clock_timestamp() - ${agentKeepDays} * interval '1 day', ${rows}),
        sweep_tenant(${tenantId}, clock_timestamp() - ${keepDays} * interval '1 day', ${rows}),
        sweep_agent(${tenantId}, clock_timestamp() - ${agentKeepDays} * interval '1 day', ${rows}),
        sweep_channels(${tenantId}, clock_timestamp() - ${agentKeepDays} * interval '1 day', ${rows}),
        sweep_artifacts(${tenantId}, ${rows}), sweep_files(${tenantId}, ${rows}),
        sweep_prints(${tenantId}, ${rows}), sweep_deleted(${tenantId}, ${rows})]) part`
    return row!.more
  })
