/** What the follow-up of a post may find in place. */
import type { WorkKind } from '#contract/work'
import type { Fragment, Sql } from '../engine/db.ts'
import { isPending } from '../engine/idempotency.ts'
import { one, type Part, sure } from '../engine/load.ts'

/** Usually all of it is in place and nobody waits: writes that would change nothing cost as much as those that do. */
export interface Standing {
  /** Whether a key waits for the record's outcome. */
  awaited: boolean
  /** When the tenant's row of metrics work is due; null without one. */
  metrics: Date | null
  /** The same of weekly reports. */
  weekly_report: Date | null
}

/** By the unique index: a tenant's rows of these kinds are one each, but its other rows may be many. */
const dueOf = (sql: Sql, kind: WorkKind): Fragment => sql`(select w.run_at from work w where w.kind = ${kind} order by w.ref_id limit 1)`

export const standing = (recordId: string): Part<Standing> =>
  sure(
    one<Standing>(
      { metrics: true, weekly_report: true },
      (sql) => sql<Standing>`select ${isPending(sql, recordId)} as awaited, ${dueOf(sql, 'metrics')} as metrics,
        ${dueOf(sql, 'weekly_report')} as weekly_report`,
    ),
  )
