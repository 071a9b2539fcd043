/**
 * The workspace as its members see it. Row-level security limits every statement to its own row.
 */
import type { PlanState } from '#contract/limits'
import type { Query } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'

export interface WorkspaceRow {
  id: string
  name: string
  plan: string
  created_at: Date
  deletes_at: Date | null
}

export const workspaceOf: Query<WorkspaceRow> = (sql) =>
  sql`select id, name, plan, created_at, deletes_at from tenant`

export const workspacePart = sure(
  one<WorkspaceRow>({ created_at: true, deletes_at: true }, workspaceOf),
)

export const renameWorkspace =
  (id: string, name: string): Query =>
  (sql) =>
    sql`update tenant set name = ${name} where id = ${id}`

export interface PlanRow extends PlanState {
  /** Amounts used, by `key@period`. */
  counters: Record<string, number>
  now: Date
}

export const planOfWorkspace: Query<PlanRow> = (sql) =>
  sql`select plan, billing, overrides, clock_timestamp() as now,
    (select coalesce(jsonb_object_agg(c.key || '@' || c.period, c.used), '{}')
      from counter c) as counters from tenant`

/** Null cancels the deletion. */
export const setDeletion =
  (id: string, at: Date | null): Query =>
  (sql) =>
    sql`update tenant set deletes_at = ${at} where id = ${id}`
