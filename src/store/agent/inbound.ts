/** What came in from outside, each event once. */
import type { Query } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'

export interface InboundFacts {
  /** The job of the same event, if it has come before. */
  known: string | null
  /** How many events of the source came since a time. */
  count: number
  /** When the oldest of these came. */
  oldest: Date | null
}

export const inboundFacts = (source: string, event: string, { since }: { since: number }) =>
  sure(
    one<InboundFacts>(
      { oldest: true },
      (sql) => sql`select (select job_id from inbound_event where source_id = ${source}
        and event_id = ${event}) as known,
        count(*)::int as count, min(at) as oldest from inbound_event
        where source_id = ${source} and at > clock_timestamp() - ${since} * interval
          '1 millisecond'`,
    ),
  )

export const insertInbound =
  ({ source, event, job, now }: { source: string; event: string; job: string; now: Date }): Query =>
  (sql) =>
    sql`insert into inbound_event (source_id, event_id, job_id, at)
      values (${source}, ${event}, ${job}, ${now})`
