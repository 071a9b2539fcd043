/**
 * What fails again and again in any workspace, for operators. The policy of `work` says what they
 * see of it.
 */
import type { Db } from '../engine/db.ts'
import type { Page } from '../engine/page.ts'

export interface FailingWork {
  id: string
  workspace_id: string
  /** A kind of work, or `erasure`. */
  kind: string
  /** The record that it works on. */
  ref_id: string
  state: 'queued' | 'running'
  /** How many failures in a row, for reasons of its own. */
  failures: number
  next_try_at: Date
  /** When it was due, if it rests. */
  due_at: Date | null
  /** Why it last failed, if that is stored. Otherwise the log of that time has the reason. */
  error: string | null
}

/**
 * Newest first: rows of work that have failed since they last succeeded, and workspaces that could
 * not be erased.
 */
export const failingWork = (
  db: Db,
  { limit, after }: Page,
  workspaceId: string | undefined,
): Promise<FailingWork[]> =>
  db.system(
    (sql) => sql<FailingWork>`select * from (
        select id, tenant_id as workspace_id, kind, ref_id, state, failures::int, run_at as next_try_at, due_at, null as error
          from work where failures > 0
        union all select id, id, 'erasure', id, 'queued', erasure_failures, coalesce(erasure_rests_until, deletes_at), deletes_at, erasure_error
          from tenant where erasure_failures > 0 and deletes_at is not null) failing
      where ${workspaceId === undefined ? sql`true` : sql`workspace_id = ${workspaceId}`} ${after ? sql`and id < ${after}` : sql``}
      order by id desc limit ${limit + 1}`,
  )
