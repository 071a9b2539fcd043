/** Who asks the agent for something. */
import { askerOf, type Job, type OnBehalf } from '#domain/agent/job/job'
import type { Fragment, Sql } from '../engine/db.ts'

/**
 * In whose name a job runs, and whether anybody has asked for it: what a schedule or a rule begins
 * is not its owner's own.
 */
export interface Asker {
  on_behalf: OnBehalf
  origin: Job['origin']
}

/** Whether they have asked for a job `j`, as `askerOf` tells askers apart. */
export const isAskedBy = (sql: Sql, { on_behalf, origin }: Asker): Fragment =>
  sql`j.origin = ${origin} and case when j.on_behalf->>'kind' = 'channel' then j.on_behalf->>'id'
    else coalesce(j.on_behalf->>'personId', j.on_behalf->>'id') end = ${askerOf(on_behalf)}`
