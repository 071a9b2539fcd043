import { ruleRunRecord } from '#contract/records/growth/rule-run'
import type { Drafting, TakenQuota } from '#domain/growth/drafting/generation'
import { type RuleRun, runEnd } from '#domain/growth/rules/rule-run'
import type { Query, Sql } from '../engine/db.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(ruleRunRecord)
const { columns } = table

export const listRuleRuns =
  ({ ruleId, limit, after }: Page & { ruleId?: string | undefined }): Query<RuleRun> =>
  (sql) =>
    sql`select ${columns(sql)} from rule_run where true
      ${ruleId ? sql`and rule_id = ${ruleId}` : sql``}
        ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`

export const lockRun = async (sql: Sql, id: string): Promise<RuleRun | undefined> =>
  (await sql<RuleRun>`select ${columns(sql)} from rule_run where id = ${id} for update`)[0]

/** Existing runs of these rules for these occurrences, as `<rule> <trigger> <occurrence>`. */
export const knownRuns = async (
  sql: Sql,
  ruleIds: string[],
  occurrences: string[],
): Promise<Set<string>> => {
  const rows = await sql<{
    name: string
  }>`select rule_id || ' ' || trigger || ' ' || occurrence as name from rule_run
    where rule_id = any(${ruleIds}::uuid[]) and occurrence = any(${occurrences})`
  return new Set(rows.map(({ name }) => name))
}

/** The runs that made these records, either directly or through a batch or an article. */
export const makersOf = async (
  sql: Sql,
  ids: string[],
): Promise<Map<string, Pick<RuleRun, 'rule_id' | 'chain'>>> => {
  const rows = await sql<{
    id: string
    rule_id: string
    chain: string[]
  }>`select o.id, m.rule_id, m.chain from (
      select i.id, array_remove(array[i.id, i.batch_id,
        (select a.id from article a where a.item_id = i.id)], null) as made
        from item i where i.id = any(${ids}::uuid[])
      union all select b.id, array[b.id] from batch b where b.id = any(${ids}::uuid[])) o
    cross join lateral (select rule_id, chain from rule_run where made_id = any(o.made) limit 1) m`
  return new Map(rows.map(({ id, ...run }) => [id, run]))
}

export const insertRun = (run: RuleRun): Query =>
  table.insert(run, {}, (sql) => sql`on conflict do nothing`)

export const { save: saveRun } = table

export const removeRun =
  (id: string): Query =>
  (sql) =>
    sql`delete from rule_run where id = ${id}`

/** Ends the run that waits for this generation, if there is one. */
export const endRun = (record: Drafting, refund: readonly TakenQuota[]): Query => {
  const { status, reason, returned, cost_micros, ended_at } = runEnd(record, refund)
  return (sql) =>
    sql`update rule_run set status = ${status}, reason = ${reason}, units = units - ${returned},
      cost_micros = ${cost_micros},
      ended_at = ${ended_at} where made_id = ${record.id} and status = 'running'`
}

/** Skips all queued runs. */
export const skipQueuedRuns =
  (reason: string, now: Date): Query =>
  (sql) =>
    sql`update rule_run set status = 'skipped', reason = ${reason}, ended_at = ${now}
      where status = 'queued'`

/**
 * When runs that made nothing are deleted. The others show where drafts came from, and are kept.
 */
const KEPT_DAYS = 90
/** More than the number added in the same time. */
const FORGOTTEN_AT_ONCE = 20

export const forgetRuns =
  (now: Date): Query =>
  (sql) =>
    sql`delete from rule_run where id in (select id from rule_run where made_id is null
      and ended_at < ${now}::timestamptz - ${KEPT_DAYS} * interval '1 day' order by ended_at
        limit ${FORGOTTEN_AT_ONCE})`
