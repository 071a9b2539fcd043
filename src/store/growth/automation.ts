import type { Overdue } from '#domain/growth/sending/resuming'
import { type NamedAuthor, namedAuthor } from '../app/names.ts'
import type { Fragment, Sql } from '../engine/db.ts'
import type { HoldCause } from '../engine/hold.ts'
import { many, mapPart, one, sure } from '../engine/load.ts'

interface Pause {
  paused: boolean
  /** When it was paused, and below by whom. Null while nothing is paused. */
  since: Date | null
  by: NamedAuthor | null
  /** The hold of the deployment; null while there is none. */
  held: { since: string; cause: HoldCause; as_of: string | null } | null
  /** Since when the operator has paused every workspace; null while that is not so. */
  everywhere: Date | null
  now: Date
}

/** Whether all automation is paused. Always a row. */
export const pauseOf = sure(
  one<Pause>(
    { since: true, now: true, everywhere: true },
    (sql) => sql`select a.paused, a.paused_at as since, now() as now,
      ${namedAuthor(sql, sql`a.paused_by`)} as by,
      (select jsonb_build_object('since', h.since, 'cause', h.cause, 'as_of', h.as_of) from hold h
        where h.since is not null) as held,
      (select h.paused_since from hold h) as everywhere from actor a`,
  ),
)

/** Whether people or an operator have paused the workspace, by itself or with all others. */
export const pausedNow = (sql: Sql): Fragment =>
  sql`(select a.paused or exists (select from hold h where h.single and h.paused_since is not null)
    from actor a)`

/**
 * Scheduled posts that have fallen due while automation is paused, in groups; none while it is not.
 * `lostAfterMs`: later ones are counted only.
 */
export const overduePosts = (lostAfterMs: number) => {
  const isOverdue = (sql: Sql) => sql`i.status = 'approved' and i.post_at <= now()
    and ${pausedNow(sql)}`
  const lost = (sql: Sql) => sql`now() - ${lostAfterMs} * interval '1 millisecond'`
  return {
    overdue: many<Overdue>(
      { at: true },
      (sql) => sql`select i.post_at as at,
        coalesce(i.on_missed, (select p.data->>'on_missed' from profile p)) as policy,
        coalesce((w.payload->>'tries')::integer, 0) as tries,
        (select c.network from connection c where c.status = 'connected'
          and case when i.account_external_id is null then c.is_default
            else c.external_id = i.account_external_id end limit 1) as network,
        count(*)::int as posts
        from item i left join work w on w.kind = 'send' and w.ref_id = i.id
        where ${isOverdue(sql)} and i.post_at >= ${lost(sql)}
        group by 1, 2, 3, 4`,
    ),
    lost: mapPart(
      sure(
        one<{ posts: number }>(
          {},
          (sql) => sql`select count(*)::int as posts from item i
            where ${isOverdue(sql)} and i.post_at < ${lost(sql)}`,
        ),
      ),
      ({ posts }) => posts,
    ),
    /** Whether nothing may be posted at all. */
    isForbidden: mapPart(
      sure(
        one<{ forbidden: boolean }>(
          {},
          (sql) => sql`select t.billing <> 'ok' or t.deletes_at is not null as forbidden
            from actor a join tenant t on t.id = a.tenant_id`,
        ),
      ),
      ({ forbidden }) => forbidden,
    ),
  }
}
