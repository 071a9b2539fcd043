/** How openings have performed. */
import type { HookResult } from '#domain/growth/drafting/hook-choice'
import type { Query } from '../engine/db.ts'
import { many } from '../engine/load.ts'
import { basisOfMetric, newestMetric, performanceOfMetric } from './metrics.ts'

export interface HookUsage {
  hook: string
  drafted: number
  approved: number
  posted: number
  rejected: number
}

/**
 * For each opening: how many items there are without deleted ones, how many were approved at some
 * point, how many are posted and how many are rejected.
 */
export const hookUsage: Query<HookUsage> = (sql) =>
  sql`select hook, count(*)::int as drafted,
      (count(*) filter (where status in ('approved', 'publishing', 'posted', 'publish_failed',
        'publish_unconfirmed')))::int as approved,
      (count(*) filter (where status = 'posted'))::int as posted,
        (count(*) filter (where status = 'rejected'))::int as rejected
    from item where status <> 'deleted' group by hook`

/** What worked long ago may no longer work, and the read needs a bound. */
const MOST_POSTS = 1_000

/**
 * For each opening and basis: how many of the newest posts have metrics, and the mean of their
 * `performanceOf` by the latest snapshots. Posts that nobody has seen do not count.
 */
export const hookResults: Query<HookResult> = (sql) =>
  sql`select i.hook, ${basisOfMetric(sql)} as basis, count(*)::int as posts,
      avg(${performanceOfMetric(sql)}) as mean
    from (select item_id from item_metric group by item_id order by item_id desc
      limit ${MOST_POSTS}) r
      cross join lateral (${newestMetric(sql, sql`r.item_id`)}) m
      join item i on i.id = r.item_id
    where m.impressions is distinct from 0 group by 1, 2`

export const usagePart = many<HookUsage>({}, hookUsage)
export const resultsPart = many<HookResult>({}, hookResults)
