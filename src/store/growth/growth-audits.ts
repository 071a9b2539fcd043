import { growthAuditRecord } from '#contract/records/growth/growth-audit'
import type { CountedPost, GrowthAudit } from '#domain/growth/learning/growth-audit'
import type { Metrics } from '#domain/growth/metrics'
import { fail } from '#kernel/errors'
import type { Query, Sql } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'
import { type GenerationsPage, ofGenerations } from './generations.ts'
import { newestMetric } from './metrics.ts'

const table = tableOf(growthAuditRecord)
const { columns } = table

export const growthAuditById =
  (id: string): Query<GrowthAudit> =>
  (sql) =>
    sql`select ${columns(sql)} from growth_audit where id = ${id}`

export const listGrowthAudits =
  (page: GenerationsPage): Query<GrowthAudit> =>
  (sql) =>
    sql`select ${columns(sql)} from growth_audit where ${ofGenerations(sql, page)}`

export const lockGrowthAudit = async (sql: Sql, id: string): Promise<GrowthAudit> =>
  (
    await sql<GrowthAudit>`select ${columns(sql)} from growth_audit where id = ${id} for update`
  )[0] ?? fail('not_found', 'no such audit')

export const { insert: insertGrowthAudit, save: saveGrowthAudit } = table

interface CountedRow extends Omit<CountedPost, 'metrics'>, Metrics {}

const toCounted = ({
  impressions,
  likes,
  replies,
  reposts,
  quotes,
  clicks,
  ...post
}: CountedRow): CountedPost => ({
  ...post,
  metrics: { impressions, likes, replies, reposts, quotes, clicks },
})

/** Posted items with metrics since `since`, newest first, each with its latest snapshot. */
export const countedPosts = async (
  sql: Sql,
  { since, limit }: { since: Date; limit: number },
): Promise<CountedPost[]> => {
  const rows =
    await sql<CountedRow>`select i.id as item_id, i.body as text, i.hook, i.format, i.learnings,
      i.posted_at,
      m.impressions, m.likes, m.replies, m.reposts, m.quotes, m.clicks
    from item i cross join lateral (${newestMetric(sql, sql`i.id`)}) m
    where i.external_id is not null and i.status = 'posted' and i.posted_at >= ${since}
      order by i.posted_at desc limit ${limit}`
  return rows.map(toCounted)
}

export const itemsForAudit = async (
  sql: Sql,
  ids: string[],
): Promise<Omit<CountedPost, 'metrics'>[]> =>
  await sql<
    Omit<CountedPost, 'metrics'>
  >`select id as item_id, body as text, hook, format, learnings, posted_at from item
    where id = any(${ids}::uuid[])`

/** How many of these items there are, not counting deleted ones. */
export const existingItemCount = (ids: string[]) =>
  sure(
    one<{ count: number }>(
      {},
      (sql) =>
        sql`select count(*)::int as count from item where id = any(${ids}::uuid[])
          and status <> 'deleted'`,
    ),
  )

/** Notes of all learnings by id, including retired ones. */
export const learningNotes = async (sql: Sql): Promise<Map<string, string>> =>
  new Map(
    (
      await sql<{
        id: string
        note: string
      }>`select id, note from learning order by id desc limit 1000`
    ).map(({ id, note }) => [id, note]),
  )
