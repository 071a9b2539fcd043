/**
 * What was approved before a backup or copy was made may have gone out elsewhere since. It is
 * marked, and waits until a person has decided on it.
 */
import type { Attempt } from '#domain/growth/sending/attempt'
import { elsewhereSince } from '#domain/growth/sending/elsewhere'
import type { Fragment, Sql } from '../engine/sql.ts'
import { columnOf, type SendableRef } from './attempts.ts'

/** The states from which a record can go out, or may just have gone out. */
const approved = {
  item: ['approved', 'publishing', 'publish_unconfirmed'],
  engagement: ['approved', 'executing', 'execute_unconfirmed'],
} as const

const tables = ['item', 'engagement'] as const

/** Whether any record of the workspace is marked. */
export const hasMarks = async (sql: Sql): Promise<boolean> =>
  (
    await sql`select 1 where exists (select from item where restored_as_of is not null)
      or exists (select from engagement where restored_as_of is not null)`
  ).length > 0

/**
 * Marks the workspace's records, except those that are marked already. `asOf`: the time of the
 * copy. If nobody knows it, it was not before the last thing that is known to have happened in the
 * workspace.
 */
export const markRestored = async (sql: Sql, asOf: Date | null): Promise<void> => {
  for (const table of tables)
    await sql`update ${sql(table)} r
      set restored_as_of = coalesce(${asOf}::timestamptz,
        greatest(r.updated_at, (select max(a.at) from audit a)))
      where r.status = any(${[...approved[table]]}::text[]) and r.restored_as_of is null`
}

/** Takes back the marks of a workspace. Letters of the workspace wait meanwhile. */
export const unmarkRestored = async (sql: Sql): Promise<void> => {
  await sql`select from actor for no key update`
  for (const table of tables)
    await sql`update ${sql(table)} set restored_as_of = null where restored_as_of is not null`
}

export interface DueSoon {
  workspace_id: string
  item_id: string
  at: Date
}

/**
 * What is on the schedule of the workspace before `until` and would go out by itself: nothing while
 * the workspace, or every one, is paused. `marked`: together with what is marked.
 */
export const dueBefore = async (
  sql: Sql,
  { until, marked, limit }: { until: Date; marked: boolean; limit: number },
): Promise<{ id: string; at: Date }[]> =>
  await sql<{ id: string; at: Date }>`select id, post_at as at from item
    where status = 'approved' and post_at < ${until} and (${marked} or restored_as_of is null)
      and not (select paused from actor) and (select paused_since from hold) is null
    order by post_at, id limit ${limit}`

/** How many records of the workspace wait for a decision. */
export const countMarks = async (sql: Sql): Promise<number> =>
  (
    await sql<{ marks: number }>`select
      (select count(*) from item where restored_as_of is not null)::int
      + (select count(*) from engagement where restored_as_of is not null)::int as marks`
  )[0]!.marks

interface TryElsewhere extends Pick<Attempt, 'id' | 'body_sha' | 'sent_text'>, SendableRef {
  account_external_id: string | null
  asOf: Date
  now: Date
}

/**
 * The try that another deployment may have made since the backup or copy. Writes nothing if no
 * account could have sent it.
 */
export const insertTryElsewhere =
  ({
    id,
    sendable,
    record_id,
    body_sha,
    sent_text,
    account_external_id,
    asOf,
    now,
  }: TryElsewhere) =>
  (sql: Sql): Fragment => {
    const since = elsewhereSince(asOf)
    return sql`insert into attempt (id, sendable, ${sql(columnOf[sendable])}, number, connection_id,
        body_sha, sent_text, origin, state, intent_at, lease_until, doubt_at, doubt_cause, ended_at)
      select ${id}, ${sendable}, ${record_id}, (select coalesce(max(a.number), 0) + 1 from attempt a
          where a.${sql(columnOf[sendable])} = ${record_id}), c.id, ${body_sha}, ${sent_text}, 'automatic', 'returned', ${since},
        ${since}, ${since}, 'restored', ${now}
      from connection c where case when ${account_external_id}::text is null then c.is_default
        else c.external_id = ${account_external_id} end limit 1`
  }
