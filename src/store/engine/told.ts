/** What is done to a workspace without a letter, told in its audit trail: by people at its doors, and by operators. */
import { newId } from '#kernel/ids'
import type { Db, Fragment, Sql } from './db.ts'

/** What was done, through which surface. */
export interface Told {
  operation: string
  surface: string
  requestId: string
}

export interface AuditEntry extends Omit<Told, 'requestId'> {
  requestId?: string | undefined
  tenantId: string
  actor: { kind: string; id: string }
  refId?: string
  detail?: object
}

/** A row of the audit, to be run in the transaction of what it tells. */
export const auditEntry = (sql: Sql, { tenantId, actor, surface, operation, refId, requestId, detail = {} }: AuditEntry): Fragment =>
  sql`insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation, ref_id, request_id, detail)
    values (${newId()}, ${tenantId}, clock_timestamp(), ${actor.kind}, ${actor.id}, ${surface}, ${operation}, ${refId ?? null},
            ${requestId ?? null}, ${sql.json(detail as never)})`

export interface Deed {
  operation: string
  detail: Record<string, unknown>
}

/** An operator's deed, in the very statement that does it. `change`: one statement that writes and gives `tenant_id` and `ref_id` of what it has written. How many there were. */
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
