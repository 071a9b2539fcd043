/** What an operator does to a workspace from outside is told in its audit trail by the same statement that does it. */
import { newId } from '#kernel/ids'
import type { Db, Fragment, Sql } from './db.ts'

export interface Deed {
  operation: string
  detail: Record<string, unknown>
}

/** `change`: one statement that writes and gives `tenant_id` and `ref_id` of what it has written. How many there were. */
export const toldByOperator = (db: Db, { operation, detail }: Deed, change: (sql: Sql) => Fragment): Promise<number> =>
  db.system(
    async (sql) =>
      (
        await sql`with done as (${change(sql)})
          insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation, ref_id, detail)
          select ${newId()}::uuid, tenant_id, clock_timestamp(), 'system', 'operator', 'admin', ${operation}, ref_id, ${sql.json(detail as never)}
          from done returning 1`
      ).length,
  )
