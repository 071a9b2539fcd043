import { reportRecord } from '#contract/records/growth/report'
import { READ_FOR_MS } from '#domain/growth/learning/metric-sync'
import type { Figures, Report, ReportItem } from '#domain/growth/learning/report'
import type { Basis } from '#domain/growth/metrics'
import { fail } from '#kernel/errors'
import type { Query, Sql } from '../engine/db.ts'
import { tableOf } from '../engine/records.ts'
import { type GenerationsPage, ofGenerations } from './generations.ts'
import {
  basisOfItem,
  basisOfMetric,
  newestMetric,
  performanceOfMetric,
  rateOfMetric,
  reactionsOfMetric,
} from './metrics.ts'

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

interface Gained extends Omit<Figures, 'posts'> {
  day: number
  basis: Basis
}

/** What posts gained on each day between the bounds, by their basis. */
const gainedByDay = async (sql: Sql, bounds: Date[]): Promise<Gained[]> => {
  const [first, last] = [bounds[0]!, bounds.at(-1)!]
  // Older posts are no longer read, so their snapshots are skipped.
  const oldest = new Date(first.getTime() - READ_FOR_MS - DAY_MS)
  return await sql<Gained>`
    with snapshots as materialized (
      select m.item_id, width_bucket(m.at, ${arrayOf(bounds)}::text[]::timestamptz[]) as day, m.at,
        ${basisOfMetric(sql)} as basis, m.impressions, m.clicks,
        m.likes::bigint + m.replies + m.reposts + m.quotes as reactions
      from item i join item_metric m on m.item_id = i.id and m.at >= ${first} and m.at < ${last}
      where i.status = 'posted' and i.posted_at > ${oldest}
    ), ends as (select distinct on (item_id, basis, day) * from snapshots
      order by item_id, basis, day, at desc),
    starts as (
      select i.item_id, b.* from (select distinct item_id from snapshots) i cross join lateral (
        select m.impressions, m.clicks, m.likes::bigint + m.replies + m.reposts + m.quotes as
          reactions from item_metric m
        where m.item_id = i.item_id and m.at < ${first} order by m.at desc limit 1) b
    ), gains as (
      select e.day, e.basis, e.impressions - coalesce(lag(e.impressions) over
        one, s.impressions, 0) as impressions,
        e.reactions - coalesce(lag(e.reactions) over one, s.reactions, 0) as reactions,
        e.clicks - coalesce(lag(e.clicks) over one, s.clicks, 0) as clicks
      from ends e left join starts s using (item_id) window
        one as (partition by e.item_id, e.basis order by e.day)
    )
    select day, basis,
      case when bool_and(impressions is not null) then sum(greatest(0, impressions)) end
        as impressions, sum(greatest(0, reactions))::bigint as reactions,
      case when bool_and(clicks is not null) then sum(greatest(0, clicks)) end as clicks
    from gains group by 1, 2`
}

/**
 * How many posts went out on each day between the bounds, by their basis. `uncounted` names the
 * networks that count no impressions, which decides for posts without metrics.
 */
const postedByDay = async (
  sql: Sql,
  { bounds, uncounted }: { bounds: Date[]; uncounted: readonly string[] },
): Promise<{ day: number; basis: Basis; posts: number }[]> =>
  await sql`select width_bucket(i.posted_at, ${arrayOf(bounds)}::text[]::timestamptz[]) as day,
    ${basisOfItem(sql, uncounted)} as basis, count(*)::int as posts
    from item i where i.status = 'posted' and i.posted_at >= ${bounds[0]!}
      and i.posted_at < ${bounds.at(-1)!} group by 1, 2`

interface DaysWanted {
  bounds: Date[]
  /** Undefined without a default account: that of most posts. */
  basis: Basis | undefined
  uncounted: readonly string[]
}

interface FigureDays {
  basis: Basis
  /** `others`: how many posts of the other basis went out. */
  days: (Figures & { others: number })[]
}

/**
 * The figures of each day between the bounds, of posts with one basis. Gains are differences of
 * snapshots, so they count on the day when the metrics were read. A number that fell counts as no
 * gain.
 */
export const figuresByDay = async (sql: Sql, wanted: DaysWanted): Promise<FigureDays> => {
  const { bounds } = wanted
  const gained = await gainedByDay(sql, bounds)
  const posted = await postedByDay(sql, wanted)
  const basis = wanted.basis ?? mostCommon(posted.length > 0 ? posted : gained)
  const none = basis === 'posts' ? null : 0
  const days = bounds.slice(1).map((_, index) => {
    const ofDay = <R extends { day: number }>(rows: R[]) =>
      rows.filter(({ day }) => day === index + 1)
    const isAlike = (row: { basis: Basis }) => row.basis === basis
    const { impressions = none, reactions = 0, clicks = none } = ofDay(gained).find(isAlike) ?? {}
    const posts = ofDay(posted).find(isAlike)?.posts ?? 0
    const others = ofDay(posted).find((row) => !isAlike(row))?.posts ?? 0
    return { posts, others, impressions, reactions, clicks }
  })
  return { basis, days }
}

/** As `commonBasis`; a row without a number of posts counts once. */
const mostCommon = (rows: { basis: Basis; posts?: number }[]): Basis => {
  const countOf = (basis: Basis): number =>
    rows.reduce((sum, row) => sum + (row.basis === basis ? (row.posts ?? 1) : 0), 0)
  return countOf('posts') > countOf('impressions') ? 'posts' : 'impressions'
}

/** Posts of the span with metrics and this basis, the best first. */
export const rankedPosts = async (
  sql: Sql,
  { from, to, basis, limit }: { from: Date; to: Date; basis: Basis; limit: number },
): Promise<ReportItem[]> =>
  await sql<ReportItem>`select i.id as item_id, left(coalesce(i.title, i.body), 120) as text, i.url,
    m.impressions, ${reactionsOfMetric(sql)} as reactions, ${rateOfMetric(sql)} as engagement_rate
    from item i cross join lateral (${newestMetric(sql, sql`i.id`)}) m
    where i.status = 'posted' and i.external_id is not null and i.posted_at >= ${from}
      and i.posted_at < ${to} and ${basisOfMetric(sql)} = ${basis}
    order by ${performanceOfMetric(sql)} desc nulls last, m.impressions desc, i.id limit ${limit}`
