/** Who asks the agent for something. */
import type { Job, OnBehalf } from '#domain/agent/job'
import type { Fragment, Sql } from '../engine/db.ts'

/** In whose name a job runs, and whether anybody has asked for it: what a schedule or a rule begins is not its owner's own. */
export interface Asker {
  on_behalf: OnBehalf
  origin: Job['origin']
}

/** Whether they have asked for a job `j`. A linked sender is not the member: a sender can be forged. */
export const isAskedBy = (sql: Sql, { on_behalf: { kind, id, personId }, origin }: Asker): Fragment =>
  sql`j.origin = ${origin} and case when j.on_behalf->>'kind' = 'channel' then j.on_behalf->>'id'
    else coalesce(j.on_behalf->>'personId', j.on_behalf->>'id') end = ${kind === 'channel' ? id : (personId ?? id)}`
