/** Finding posts worth repeating. */
import { RESURFACE_DAYS } from '#domain/growth/rules/rule-action'
import type { Sql } from '../engine/db.ts'
import { newestMetric, rateOfMetric } from './metrics.ts'

export interface Resurfaceable {
  id: string
  body: string
  format: string
  hook: string
  stories: string[]
  learnings: string[]
  length: number
  posted_at: Date
  /** Reactions per impression at the last read; null without impressions. */
  rate: number | null
}

/** How many of the newest posts that are old enough are considered. */
const MOST_CONSIDERED = 2_000

/**
 * The best post that is old enough, did well enough and was not resurfaced recently. It does not
 * matter what became of the earlier draft, except that a deleted draft counts as never written.
 * Copies of a posted item are not candidates themselves, because the original stands for all of
 * them.
 */
export const bestToResurface = async (
  sql: Sql,
  { minAgeDays, minEngagement, now }: { minAgeDays: number; minEngagement: number; now: Date },
): Promise<Resurfaceable | undefined> => {
  const old = sql`${now}::timestamptz - ${minAgeDays} * interval '1 day'`
  const [row] =
    await sql`select i.id, i.body, i.format, i.hook, i.stories, i.learnings, i.length, i.posted_at,
      m.rate
    from (select * from item where status = 'posted' and posted_at < ${old} and kind = 'post'
      and not exists (select from item o where o.id = item.resurfaced_from
        and o.posted_at is not null)
      order by posted_at desc limit ${MOST_CONSIDERED}) i
    left join lateral (select ${rateOfMetric(sql)} as rate
      from (${newestMetric(sql, sql`i.id`)}) m) m on true
    where coalesce(m.rate, 0) >= ${minEngagement} and not exists (select 1 from item c
      where c.resurfaced_from = i.id and c.status <> 'deleted'
      and (c.created_at > ${now}::timestamptz - ${RESURFACE_DAYS} * interval '1 day'
        or c.posted_at >= ${old}))
    order by m.rate desc nulls last, i.posted_at limit 1`
  return row as Resurfaceable | undefined
}
