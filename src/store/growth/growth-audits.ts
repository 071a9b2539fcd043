import type { AuditResult, CountedPost, GrowthAudit, SuppliedMetrics } from '#domain/growth/learning/growth-audit'
import type { Metrics } from '#domain/growth/metrics'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { newestMetric } from './metrics.ts'

const columns = (sql: Sql): Fragment => sql`id, status, error, days, source, given, result, model, usage, created_at, updated_at`

export const growthAuditById =
  (id: string): Query =>
  (sql) =>
    sql`select ${columns(sql)} from growth_audit where id = ${id}`

export const lockGrowthAudit = async (sql: Sql, id: string): Promise<GrowthAudit> =>
  ((await sql`select ${columns(sql)} from growth_audit where id = ${id} for update`)[0] as GrowthAudit | undefined) ??
  fail('not_found', 'no such audit')

const json = (sql: Sql, value: SuppliedMetrics[] | AuditResult | GrowthAudit['usage']) => (value ? sql.json(value as never) : null)

export const insertGrowthAudit =
  ({ given, result: _, usage: __, ...audit }: GrowthAudit): Query =>
  (sql) =>
    sql`insert into growth_audit ${sql({ ...audit, given: json(sql, given) } as never)}`

export const saveGrowthAudit =
  ({ id, ...audit }: GrowthAudit): Query =>
  (sql) =>
    sql`update growth_audit set status = ${audit.status}, error = ${audit.error}, result = ${json(sql, audit.result)},
      model = ${audit.model}, usage = ${json(sql, audit.usage)}, updated_at = ${audit.updated_at} where id = ${id}`

interface CountedRow extends Omit<CountedPost, 'metrics'>, Metrics {}

const counted = ({ impressions, likes, replies, reposts, quotes, clicks, ...post }: CountedRow): CountedPost => ({
  ...post,
  metrics: { impressions, likes, replies, reposts, quotes, clicks },
})

/** Posted items with metrics since `since`, newest first, each with its latest snapshot. */
export const countedPosts = async (sql: Sql, { since, limit }: { since: Date; limit: number }): Promise<CountedPost[]> => {
  const rows = (await sql`select i.id as item_id, i.body as text, i.hook, i.format, i.learnings, i.posted_at,
      m.impressions, m.likes, m.replies, m.reposts, m.quotes, m.clicks
    from item i cross join lateral (${newestMetric(sql, sql`i.id`)}) m
    where i.external_id is not null and i.status = 'posted' and i.posted_at >= ${since} order by i.posted_at desc limit ${limit}`) as unknown as CountedRow[]
  return rows.map(counted)
}

export const itemsForAudit = async (sql: Sql, ids: string[]): Promise<Omit<CountedPost, 'metrics'>[]> =>
  (await sql`select id as item_id, body as text, hook, format, learnings, posted_at from item where id = any(${ids}::uuid[])`) as unknown as Omit<
    CountedPost,
    'metrics'
  >[]

/** Notes of all learnings by id, including retired ones. */
export const learningNotes = async (sql: Sql): Promise<Map<string, string>> =>
  new Map(
    ((await sql`select id, note from learning order by id desc limit 1000`) as unknown as { id: string; note: string }[]).map(
      ({ id, note }) => [id, note],
    ),
  )
