/**
 * Audit rows for what happens without a letter, through people who sign in and through operators.
 */
import { newId } from '#kernel/ids'
import type { Db, Fragment, Sql } from './db.ts'
import type { Provenance } from './letter.ts'
import { auditActor, operator } from './principal.ts'

/** The operation, surface and request that an audit row records. */
export interface AuditContext {
  operation: string
  surface: string
  requestId: string
}

export interface AuditEntry extends Omit<AuditContext, 'requestId'> {
  requestId?: string | undefined
  tenantId: string
  actor: { kind: string; id: string }
  refId?: string
  detail?: object
}

/** Inserts an audit row. Run it in the transaction of the change it records. */
export const auditEntry = (
  sql: Sql,
  { tenantId, actor, surface, operation, refId, requestId, detail = {} }: AuditEntry,
): Fragment =>
  sql`insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation, ref_id,
    request_id, detail)
    values (${newId()}, ${tenantId}, clock_timestamp(), ${actor.kind}, ${actor.id}, ${surface},
      ${operation}, ${refId ?? null},
            ${requestId ?? null}, ${sql.json(detail)})`

export interface OperatorChange {
  operation: string
  detail: Record<string, unknown>
}

/**
 * Makes an operator's change and its audit rows in one statement. `change` must be a writing
 * statement that returns `tenant_id` and `ref_id`. Returns the number of rows changed.
 */
export const changeAsOperator = (
  db: Db,
  { operation, detail }: OperatorChange,
  change: (sql: Sql) => Fragment,
): Promise<number> =>
  db.system(
    async (sql) =>
      (
        await sql`with done as (${change(sql)})
          insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation, ref_id,
            detail)
          select ${newId()}::uuid, tenant_id, clock_timestamp(), ${operator.kind}, ${operator.id}, 'admin',
            ${operation}, ref_id, ${sql.json(detail)}
          from done returning 1`
      ).length,
  )

/**
 * Audits a download. No other kind of read is audited; this one is because it takes the workspace's
 * data away.
 */
export const noteDownload = (
  db: Db,
  { tenantId, operation, by }: { tenantId: string; operation: string; by: Provenance },
): Promise<unknown> =>
  db.system((sql) =>
    auditEntry(sql, { ...by, tenantId, operation, actor: auditActor(by.principal) }),
  )
