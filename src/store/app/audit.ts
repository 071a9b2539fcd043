/** The audit trail, as owners read it. */

import type { Query } from '../engine/db.ts'
import type { Page } from '../engine/page.ts'

export interface AuditRow {
  id: string
  at: Date
  actor_kind: 'person' | 'key' | 'agent' | 'system'
  actor_id: string
  actor_name: string | null
  actor_email: string | null
  surface: string
  operation: string
  ref_id: string | null
  request_id: string | null
  detail: Record<string, unknown>
}

export interface AuditFilters {
  operation?: string | undefined
  /** All entries of a person, including those of the person's keys, or all entries of one key. */
  actor?: string | undefined
  /** The id of a record. */
  record?: string | undefined
  since?: Date | undefined
  /** Exclusive. */
  until?: Date | undefined
}

/** Selects the page before looking up names, each by its id. */
export const auditPage =
  ({
    limit,
    after,
    operation,
    actor,
    record,
    since,
    until,
  }: Page & AuditFilters): Query<AuditRow> =>
  (sql) =>
    sql`select a.*, coalesce(k.name, p.name) as actor_name, p.email as actor_email
      from (select id, at, actor_kind, actor_id, surface, operation, ref_id, request_id, detail from audit where true
          ${after ? sql`and id < ${after}` : sql``} ${operation ? sql`and operation = ${operation}` : sql``}
          ${
            actor
              ? sql`and actor_id in (select ${actor}::text union all select x.id::text
            from api_key x where x.person_id::text = ${actor})`
              : sql``
          }
          ${record ? sql`and ref_id = ${record}` : sql``} ${since ? sql`and at >= ${since}` : sql``} ${until ? sql`and at < ${until}` : sql``}
        order by id desc limit ${limit + 1}) a
        left join lateral (select name, person_id from api_key
          where id = case when a.actor_kind = 'key' then a.actor_id::uuid end offset 0) k on true
        left join lateral (select name, email from person
          where id = case when a.actor_kind = 'person' then a.actor_id::uuid else k.person_id end offset 0) p on true
      order by a.id desc`
