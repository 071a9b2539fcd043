import { reportRecord } from '#contract/records/growth/report'
import { READ_FOR_MS } from '#domain/growth/learning/metric-sync'
import type { Figures, Report, ReportItem } from '#domain/growth/learning/report'
import { fail } from '#kernel/errors'
import type { Query, Sql } from '../engine/db.ts'
import { tableOf } from '../engine/records.ts'
import { type GenerationsPage, ofGenerations } from './generations.ts'
import { newestMetric, rateOfMetric } from './metrics.ts'

const table = tableOf(reportRecord)
const { columns } = table

export const listReports =
  (page: GenerationsPage): Query<Report> =>
  (sql) =>
    sql`select ${columns(sql)} from report where ${ofGenerations(sql, page)}`

export const reportById =
  (id: string): Query<Report> =>
  (sql) =>
    sql`select ${columns(sql)} from report where id = ${id}`

export const lockReport = async (sql: Sql, id: string): Promise<Report> =>
  (await sql<Report>`select ${columns(sql)} from report where id = ${id} for update`)[0] ??
  fail('not_found', 'no such report')

export const { insert: insertReport, save: saveReport } = table

/** Whether the week has an automatic report, even a skipped one. */
export const isReported = async (sql: Sql, week: string): Promise<boolean> =>
  (await sql`select 1 from report where week = ${week} and origin = 'automatic'`).length > 0

const DAY_MS = 86_400_000

/** Times as text, which Postgres reads as an array of timestamps. */
const arrayOf = (times: Date[]): string[] => times.map((time) => time.toISOString())

/**
 * The figures of each day between the bounds. Gains are differences of snapshots, so they count on
 * the day when the metrics were read. A number that fell counts as no gain.
 */
export const figuresByDay = async (sql: Sql, bounds: Date[]): Promise<Figures[]> => {
  const [first, last] = [bounds[0]!, bounds.at(-1)!]
  // Older posts are no longer read, so their snapshots are skipped.
  const oldest = new Date(first.getTime() - READ_FOR_MS - DAY_MS)
  const gained = await sql<Omit<Figures, 'posts'> & { day: number }>`
    with snapshots as materialized (
      select m.item_id, width_bucket(m.at, ${arrayOf(bounds)}::text[]::timestamptz[]) as day, m.at,
        m.impressions, m.clicks,
        m.likes::bigint + m.replies + m.reposts + m.quotes as reactions
      from item i join item_metric m on m.item_id = i.id and m.at >= ${first} and m.at < ${last}
      where i.status = 'posted' and i.posted_at > ${oldest}
    ), ends as (select distinct on (item_id, day) * from snapshots order by item_id, day, at desc),
    starts as (
      select i.item_id, b.* from (select distinct item_id from snapshots) i cross join lateral (
        select m.impressions, m.clicks, m.likes::bigint + m.replies + m.reposts + m.quotes as
          reactions from item_metric m
        where m.item_id = i.item_id and m.at < ${first} order by m.at desc limit 1) b
    ), gains as (
      select e.day, e.impressions - coalesce(lag(e.impressions) over
        one, s.impressions, 0) as impressions,
        e.reactions - coalesce(lag(e.reactions) over one, s.reactions, 0) as reactions,
        e.clicks - coalesce(lag(e.clicks) over one, s.clicks, 0) as clicks
      from ends e left join starts s using (item_id) window
        one as (partition by e.item_id order by e.day)
    )
    select day, sum(greatest(0, impressions)) as impressions,
      sum(greatest(0, reactions))::bigint as reactions, sum(greatest(0, clicks)) as clicks
    from gains group by day`
  const posted = await sql<{
    day: number
    posts: number
  }>`select width_bucket(posted_at, ${arrayOf(bounds)}::text[]::timestamptz[]) as day,
    count(*)::int as posts
    from item where status = 'posted' and posted_at >= ${first} and posted_at < ${last} group by 1`
  return bounds.slice(1).map((_, index) => {
    const {
      impressions = 0,
      reactions = 0,
      clicks = 0,
    } = gained.find(({ day }) => day === index + 1) ?? {}
    return {
      posts: posted.find(({ day }) => day === index + 1)?.posts ?? 0,
      impressions,
      reactions,
      clicks,
    }
  })
}

/** Posts of the span with metrics, best engagement first. */
export const rankedPosts = async (
  sql: Sql,
  { from, to, limit }: { from: Date; to: Date; limit: number },
): Promise<ReportItem[]> =>
  await sql<ReportItem>`select i.id as item_id, left(coalesce(i.title, i.body), 120) as text, i.url,
    m.impressions,
      ${rateOfMetric(sql)} as engagement_rate
    from item i cross join lateral (${newestMetric(sql, sql`i.id`)}) m
    where i.status = 'posted' and i.external_id is not null and i.posted_at >= ${from}
      and i.posted_at < ${to}
    order by engagement_rate desc nulls last, m.impressions desc, i.id limit ${limit}`
