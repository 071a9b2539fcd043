/** Finding posts worth repeating. */
import { RESURFACE_DAYS } from '#domain/growth/rules/rule-action'
import type { Sql } from '../engine/db.ts'
import { newestMetric, rateOfMetric, reactionsOfMetric } from './metrics.ts'

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
  /** At the last read; null where the network counts impressions. */
  reactions: number | null
}

interface Wanted {
  minAgeDays: number
  /** The least rate. */
  minEngagement: number
  /** Of posts whose network counts no impressions. Null: they do not qualify. */
  minReactions: number | null
  /** The names of networks that count no impressions. */
  uncounted: readonly string[]
  now: Date
}

/** How many of the newest posts that are old enough are considered. */
const MOST_CONSIDERED = 2_000

/**
 * The best post that is old enough, did well enough and was not resurfaced recently. It does not
 * matter what became of the earlier draft, except that a deleted draft counts as never written.
 * Copies of a posted item are not candidates themselves, because the original stands for all of
 * them. Rates and numbers of reactions are not compared: posts that are counted as those of the
 * default account come first.
 */
export const bestToResurface = async (
  sql: Sql,
  { minAgeDays, minEngagement, minReactions, uncounted, now }: Wanted,
): Promise<Resurfaceable | undefined> => {
  const old = sql`${now}::timestamptz - ${minAgeDays} * interval '1 day'`
  const [row] =
    await sql`select i.id, i.body, i.format, i.hook, i.stories, i.learnings, i.length, i.posted_at,
      m.rate, m.reactions
    from (select * from item where status = 'posted' and posted_at < ${old} and kind = 'post'
      and not exists (select from item o where o.id = item.resurfaced_from
        and o.posted_at is not null)
      order by posted_at desc limit ${MOST_CONSIDERED}) i
    left join lateral (select ${rateOfMetric(sql)} as rate,
      case when m.impressions is null then ${reactionsOfMetric(sql)} end as reactions
        from (${newestMetric(sql, sql`i.id`)}) m) m on true
    where case when m.reactions is null then coalesce(m.rate, 0) >= ${minEngagement}
      else m.reactions >= ${minReactions}::float8 end and not exists (select 1 from item c
      where c.resurfaced_from = i.id and c.status <> 'deleted'
      and (c.created_at > ${now}::timestamptz - ${RESURFACE_DAYS} * interval '1 day'
        or c.posted_at >= ${old}))
    order by (m.reactions is not null) <> exists (select from connection where is_default
      and network = any(${[...uncounted]}::text[])),
        m.rate desc nulls last, m.reactions desc, i.posted_at limit 1`
  return row as Resurfaceable | undefined
}
