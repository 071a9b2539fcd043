import { experimentRecord } from '#contract/records/growth/experiment'
import type {
  CountedExperiment,
  Experiment,
  MeasuredItem,
} from '#domain/growth/learning/experiment'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import { newestMetric } from './metrics.ts'

const table = tableOf(experimentRecord)

/** A post's latest metrics, joined to item `i`. */
const latestMetrics = (sql: Sql): Fragment =>
  sql`lateral (${newestMetric(sql, sql`i.id`)}) m on i.status = 'posted'`

/**
 * The newest posts of experiment `e`. They include every arm, because each batch has a post for
 * each.
 */
const newestOf = (sql: Sql, most: Fragment): Fragment =>
  sql`(select * from item n where n.experiment_id = e.id and n.status = 'posted' order by n.id desc
    limit ${most})`

/**
 * The tally of arms: current for a running experiment `e`, and as of its conclusion for a concluded
 * one. A rate needs impressions, which somebody must count. `most`: count only this many of the
 * newest posts.
 */
export const tallyOf = (
  sql: Sql,
  most?: Fragment,
): Fragment => sql`case when e.status = 'concluded' then e.tally else
  (select coalesce(jsonb_agg(to_jsonb(t)), '[]') from (
    select i.arm, count(*)::int as items, (count(*) filter (where i.status = 'posted'))::int as
      posted,
      (count(m.id) filter (where case e.metric when 'engagement_rate' then m.impressions > 0
        when 'impressions' then m.impressions is not null when 'clicks' then m.clicks is not null
          else true end))::int as measured
    from ${most === undefined ? sql`item` : newestOf(sql, most)} i left join ${latestMetrics(sql)}
      where i.experiment_id = e.id and i.status <> 'deleted' group by i.arm order by i.arm) t) end`

const columns = (sql: Sql): Fragment => sql`${table.columns(sql, 'e')}, ${tallyOf(sql)} as tally`

export const listExperiments =
  ({
    status,
    limit,
    after,
  }: Page & { status?: Experiment['status'] | undefined }): Query<CountedExperiment> =>
  (sql) =>
    sql`select ${columns(sql)} from experiment e where true
      ${status ? sql`and e.status = ${status}` : sql``}
        ${after ? sql`and e.id < ${after}` : sql``} order by e.id desc limit ${limit + 1}`

export const runningCount = sure(
  one<{ running: number }>(
    {},
    (sql) => sql`select count(*)::int as running from experiment where status = 'running'`,
  ),
)

export const experimentById =
  (id: string): Query<CountedExperiment> =>
  (sql) =>
    sql`select ${columns(sql)} from experiment e where e.id = ${id}`

export const experimentPart = (id: string) =>
  one<CountedExperiment>(table.times, experimentById(id))

/** Throws `not_found`. */
export const findExperiment = async (sql: Sql, id: string): Promise<CountedExperiment> =>
  (await experimentById(id)(sql))[0] ?? fail('not_found', 'no such experiment')

/** How many items of a batch each arm has. Leaves out deleted items, as the tally does. */
export const itemsByArm = async (
  sql: Sql,
  batchId: string,
): Promise<{ arm: string; items: number }[]> =>
  await sql<{ arm: string; items: number }>`select arm, count(*)::int as items from item
    where batch_id = ${batchId} and arm is not null and status <> 'deleted' group by arm`

/** How many of an experiment's newest posts are compared. */
const MOST_COMPARED = 2_000

/** Posted items with metrics, newest first. */
export const measuredItems = (experimentId: string) =>
  many<MeasuredItem>(
    {},
    (
      sql,
    ) => sql`select i.id, i.arm, m.impressions, m.likes, m.replies, m.reposts, m.quotes, m.clicks
    from item i join ${latestMetrics(sql)} where i.experiment_id = ${experimentId}
    order by i.posted_at desc, i.id desc limit ${MOST_COMPARED}`,
  )

export const { insert: insertExperiment } = table

/** Saves the experiment with its tally, which is fixed from then on. */
export const concludeExperiment = (experiment: CountedExperiment): Query =>
  table.save(experiment, { tally: experiment.tally })
