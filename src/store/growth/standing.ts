/** What a post's follow-up may find already in place. */
import type { WorkKind } from '#contract/work'
import type { Fragment, Sql } from '../engine/db.ts'
import { isPending } from '../engine/idempotency.ts'
import { one, type Part, sure } from '../engine/load.ts'

/**
 * Usually everything is in place and nobody is waiting. A write that changes nothing would cost as
 * much as one that does.
 */
export interface RecordStanding {
  /** Whether a key waits for the record's outcome. */
  awaited: boolean
  /** When the tenant's row of metrics work is due; null without one. */
  metrics: Date | null
  /** When the row of weekly reports is due; null without one. */
  weekly_report: Date | null
}

/**
 * Uses the unique index. A tenant has one row of each of these kinds, but may have many rows of
 * other kinds.
 */
const dueOf = (sql: Sql, kind: WorkKind): Fragment =>
  sql`(select w.run_at from work w where w.kind = ${kind} order by w.ref_id limit 1)`

export const recordStanding = (recordId: string): Part<RecordStanding> =>
  sure(
    one<RecordStanding>(
      { metrics: true, weekly_report: true },
      (sql) => sql<RecordStanding>`select ${isPending(sql, recordId)} as awaited,
        ${dueOf(sql, 'metrics')} as metrics,
        ${dueOf(sql, 'weekly_report')} as weekly_report`,
    ),
  )
