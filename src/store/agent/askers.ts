/** Who asks the agent for something. */
import { askerOf, type Job, type OnBehalf } from '#domain/agent/job/job'
import type { Fragment, Sql } from '../engine/db.ts'

/**
 * In whose name a job runs, and whether anybody asked for it. A job that a schedule or a rule
 * begins does not count as its owner's own.
 */
export interface Asker {
  on_behalf: OnBehalf
  origin: Job['origin']
}

/** Whether this asker has asked for job `j`. Askers are told apart as in `askerOf`. */
export const isAskedBy = (sql: Sql, { on_behalf, origin }: Asker): Fragment =>
  sql`j.origin = ${origin} and case when j.on_behalf->>'kind' = 'channel' then j.on_behalf->>'id'
    else coalesce(j.on_behalf->>'personId', j.on_behalf->>'id') end = ${askerOf(on_behalf)}`
