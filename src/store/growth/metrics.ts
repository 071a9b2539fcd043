/** Metrics of items, and which posts to read next. */
import { reactionNames } from '#contract/records/growth/item'
import { metricRecord } from '#contract/records/growth/metric'
import type { RowOf } from '#contract/records/record'
import {
  DENSE_MS,
  FIRST_READ_MS,
  READ_FOR_MS,
  readSteps,
} from '#domain/growth/learning/metric-sync'
import type { Basis, MetricSnapshot, Metrics } from '#domain/growth/metrics'
import { newId } from '#kernel/ids'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'
import { writing } from '../engine/sql.ts'

const table = tableOf(metricRecord)

/** A posted item whose metrics are due to be read. */
export interface DuePost {
  id: string
  external_id: string
  posted_at: Date
  connection_id: string
}

/**
 * A query of one row: an item's latest metrics. `itemId` is a column of the surrounding statement.
 */
export const newestMetric = (sql: Sql, itemId: Fragment): Fragment =>
  sql`select * from item_metric where item_id = ${itemId} order by at desc limit 1`

/**
 * The domain's `engagementRate` for row `m`; null without impressions. It uses floats, because the
 * sum of counts can exceed an integer.
 */
export const rateOfMetric = (sql: Sql): Fragment =>
  sql`case when m.impressions > 0 then least(1, ${reactionsOfMetric(sql)} / m.impressions) end`

/** The domain's `reactions` for row `m`. */
export const reactionsOfMetric = (sql: Sql): Fragment =>
  sql`(m.likes::float8 + m.replies + m.reposts + m.quotes)`

/** The domain's `performanceOf` for row `m`. */
export const performanceOfMetric = (sql: Sql): Fragment =>
  sql`case when m.impressions is null then ${reactionsOfMetric(sql)} else ${rateOfMetric(sql)} end`

/** The domain's `basisOf` for row `m`. */
export const basisOfMetric = (sql: Sql): Fragment =>
  sql`case when m.impressions is null then 'posts' else 'impressions' end`

/** The basis of item `i`. Without metrics, that of its account's network. */
export const basisOfItem = (sql: Sql, uncounted: readonly string[]): Fragment =>
  sql`case when case when i.metrics is not null then i.metrics->>'impressions' is null
    else exists (select from connection c where c.external_id = i.account_external_id
      and c.network = any(${[...uncounted]}::text[])) end then 'posts' else 'impressions' end`

const ms = (sql: Sql, count: number): Fragment => sql`${count}::float8 * interval '1 millisecond'`

/** When a post is read next; see `nextMetricsRead` in the domain. */
const dueAt = (sql: Sql): Fragment => {
  const [first, second, last] = readSteps
  return sql`case when i.metrics_at is null then i.posted_at + ${ms(sql, FIRST_READ_MS)}
    else i.metrics_at + case when i.metrics_at - i.posted_at < ${ms(sql, first.youngerMs)}
      then ${ms(sql, first.everyMs)}
      when i.metrics_at - i.posted_at < ${ms(sql, second.youngerMs)} then ${ms(sql, second.everyMs)}
        else ${ms(sql, last.everyMs)} end end`
}

/** Posts of connected accounts whose metrics are still read. */
const readable = (sql: Sql, now: Date): Fragment => sql`
  select i.id, i.external_id, i.posted_at, c.id as connection_id, ${dueAt(sql)} as due
  from item i join connection c on c.external_id = i.account_external_id and c.status = 'connected'
  where i.external_id is not null and i.posted_at > ${now}::timestamptz - ${ms(sql, READ_FOR_MS)}
    and i.status = 'posted'`

/**
 * Posts of one account that are due by `until`. The account is the one that has waited longest,
 * leaving out accounts that are backing off.
 */
export const duePosts = async (
  sql: Sql,
  {
    now,
    until,
    backingOff,
    limit,
  }: { now: Date; until: Date; backingOff: string[]; limit: number },
): Promise<DuePost[]> =>
  await sql<DuePost>`with posts as materialized (select * from (${readable(sql, now)}) p
    where due <= ${until} and connection_id <> all(${backingOff}::uuid[]))
    select id, external_id, posted_at, connection_id from posts
    where connection_id = (select connection_id from posts order by due, id limit 1)
      order by due, id limit ${limit}`

/** When the next post of each account is due, leaving out the posts in `except`. */
export const nextReads = async (
  sql: Sql,
  { now, except }: { now: Date; except: string[] },
): Promise<{ connection_id: string; at: Date }[]> =>
  await sql`select connection_id, min(due) as at from (${readable(sql, now)}) p
    where id <> all(${except}::uuid[])
    and due <= posted_at + ${ms(sql, READ_FOR_MS)} group by connection_id`

/** Whether an account has posts whose metrics are still read. */
export const hasReadable = async (
  sql: Sql,
  { externalId, now }: { externalId: string; now: Date },
): Promise<boolean> =>
  (
    await sql`select 1 from item where external_id is not null and status = 'posted'
      and account_external_id = ${externalId}
      and posted_at > ${now}::timestamptz - ${ms(sql, READ_FOR_MS)} limit 1`
  ).length > 0

export const latestSnapshots = async (sql: Sql, itemIds: string[]): Promise<MetricSnapshot[]> =>
  await sql<MetricSnapshot>`select distinct on (item_id) item_id, at, impressions, likes, replies,
    reposts, quotes, clicks from item_metric
    where item_id = any(${itemIds}::uuid[]) order by item_id, at desc`

export const insertSnapshots = (snapshots: MetricSnapshot[]): Query =>
  writing(
    { table: 'item_metric', rows: snapshots },
    (sql) => sql`insert into item_metric ${sql(snapshots.map((one) => ({ id: newId(), ...one })))}`,
  )

/** Deletes all but the last snapshot of each day in the more distant past. */
export const thinSnapshots =
  (itemIds: string[], now: Date): Query =>
  (sql) =>
    sql`delete from item_metric m using item_metric later where m.item_id = any(${itemIds}::uuid[])
      and m.at < date_trunc('day', ${now}::timestamptz - ${ms(sql, DENSE_MS)}, 'UTC')
        and later.item_id = m.item_id and later.at > m.at
      and date_trunc('day', later.at, 'UTC') = date_trunc('day', m.at, 'UTC')`

export const markRead = (itemIds: string[], now: Date): Query =>
  writing(
    { table: 'item', rows: itemIds.map((id) => ({ id })) },
    (sql) => sql`update item set metrics_at = ${now} where id = any(${itemIds}::uuid[])`,
  )

/** Readings of one item, newest first; one more than the limit. */
export const readingsOf = (
  itemId: string,
  { limit, after }: { limit: number; after?: { at: Date; id: string } },
) =>
  many<RowOf<typeof metricRecord>>(
    table.times,
    (sql) => sql`select ${table.columns(sql)} from item_metric
      where item_id = ${itemId}
      ${after ? sql`and (at, id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql``}
        order by at desc, id desc limit ${limit + 1}`,
  )

/**
 * The posts of one period and basis: the sums of their newest counts, and of how they did, where
 * that is known.
 */
export interface PeriodSums extends Metrics {
  /** The first day of the period. */
  day: string
  basis: Basis
  posts: number
  /** How many of them have a rate, or reactions to count. */
  measured: number
  sum: number
  squares: number
}

/** How many posts are summed, at most. The newest of the time are taken. */
const MOST_SUMMED = 10_000

/**
 * Sums by the day or week (from Monday) in which posts were posted, on the clocks of a time zone;
 * newest first. Leaves out periods without posts. Posts of networks that count no impressions have
 * periods of their own; `uncounted` names these networks, which decides for posts without metrics.
 */
export const sumsBy = (
  by: 'day' | 'week',
  {
    from,
    to,
    zone,
    uncounted,
  }: { from: Date; to: Date; zone: string; uncounted: readonly string[] },
) =>
  many<PeriodSums>(
    {},
    (
      sql,
    ) => sql`select to_char(date_trunc(${by}, i.posted_at at time zone ${zone}), 'YYYY-MM-DD') as
      day, r.basis, count(*)::int as posts,
        count(r.value)::int as measured, coalesce(sum(r.value), 0)::float8 as sum,
          coalesce(sum(r.value * r.value), 0)::float8 as squares,
        ${reactionNames.map(
          (name) => sql`coalesce(sum(m.${sql(name)}), 0)::float8 as ${sql(name)},`,
        )}
        case when r.basis = 'impressions' then coalesce(sum(m.impressions), 0)::float8 end as
          impressions,
        case when r.basis = 'impressions' and not bool_or(i.metrics is not null and m.clicks is null)
          then coalesce(sum(m.clicks), 0)::float8 end as clicks
      from (select posted_at, metrics, account_external_id from item where status = 'posted'
        and posted_at >= ${from} and posted_at < ${to}
          order by posted_at desc, id desc limit ${MOST_SUMMED}) i
        left join lateral jsonb_to_record(coalesce(i.metrics, '{}'))
          as m(impressions int, likes int, replies int, reposts int, quotes int, clicks int) on true
        left join lateral (select ${basisOfItem(sql, uncounted)} as basis,
          ${performanceOfMetric(sql)} as value) r on true
      group by 1, 2 order by 1 desc, 2`,
  )
