/** The audit trail, as owners read it. */

import type { Fragment, Query, Sql } from '../engine/db.ts'
import { one } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { authorName } from './names.ts'

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
  allowed_by: { id: string } | null
  allowed_by_name: string | null
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

/**
 * For a row of the audit: the person who allowed what an agent did, as JSON such as `{kind, id}`.
 * Null if nobody had to.
 */
export const allowedBy = (sql: Sql): Fragment => sql`case when actor_kind = 'agent'
  and detail->>'approved_by' is not null
  then jsonb_build_object('kind', 'person', 'id', detail->>'approved_by') end`

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
    sql`select a.*, coalesce(k.name, p.name) as actor_name, p.email as actor_email,
        ${authorName(sql, sql`a.allowed_by`)} as allowed_by_name
      from (select id, at, actor_kind, actor_id, surface, operation, ref_id, request_id, detail,
          ${allowedBy(sql)} as allowed_by from audit where true
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

interface LastDeed {
  by: { kind: Exclude<AuditRow['actor_kind'], 'system'>; id: string }
  at: Date
}

/** The last thing that a person, a key or an agent did to a record after this time. */
export const lastDeedOn = (recordId: string, after: Date) =>
  one<LastDeed>(
    { at: true },
    (sql) => sql`select jsonb_build_object('kind', actor_kind, 'id', actor_id) as by, at from audit
      where ref_id = ${recordId} and at > ${after} and actor_kind <> 'system'
      order by id desc limit 1`,
  )

export type Deed = Pick<AuditRow, 'id' | 'operation' | 'ref_id' | 'actor_kind' | 'actor_id'>

/** The newest deeds of the last seconds; no workspace has more in that time. */
const DEEDS_READ_AT_ONCE = 200

/**
 * What people who sign in and operators have done since an id, without letters of the workspace.
 * Newest first.
 */
export const recentDeeds =
  (since: string): Query<Deed> =>
  (sql) =>
    sql`select id, operation, ref_id, actor_kind, actor_id from audit where id > ${since}
      and operation ~ '^(operator|app[.](session|sessions|person|device|invitations[.]accept))([.]|$)'
      order by id desc limit ${DEEDS_READ_AT_ONCE}`
