import { ruleRecord } from '#contract/records/growth/rule'
import type { Rule } from '#domain/growth/rules/rule'
import type { TriggerKind } from '#domain/growth/rules/rule-trigger'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { one, sure } from '../engine/load.ts'
import { inPeriod, type Page, type Period } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import { isWorkOf } from '../engine/work.ts'
import { pausedNow } from './automation.ts'

const table = tableOf(ruleRecord)
const { columns } = table

/** A rule, with everything that decides whether and when it runs. */
export interface ScheduledRule extends Rule {
  /** Whether all automation is paused. */
  held: boolean
  /** The next time of its cron trigger. */
  next: Date | null
  /** The database's clock. */
  now: Date
}

const standing = (sql: Sql): Fragment => sql`${columns(sql, 'r')}, ${pausedNow(sql)} as held,
  clock_timestamp() as now,
  (select w.run_at from work w where ${isWorkOf(sql, 'rule_cron', sql`r.id`)}) as next`

interface RuleFilters extends Period {
  /** The status as it is shown: while all automation is paused, no rule is active. */
  status?: Rule['status'] | undefined
  trigger?: TriggerKind | undefined
}

/** Newest first; one more than the limit. */
export const listRules =
  ({ status, trigger, limit, after, ...period }: Page & RuleFilters): Query<ScheduledRule> =>
  (sql) =>
    sql`select ${standing(sql)} from rule r where true ${
      status
        ? sql`and (r.status = 'active'
      and not ${pausedNow(sql)}) = ${status === 'active'}`
        : sql``
    }
      ${trigger ? sql`and r.trigger->>'kind' = ${trigger}` : sql``} ${inPeriod(sql, sql`r.created_at`, period)}
      ${after ? sql`and r.id < ${after}` : sql``} order by r.id desc limit ${limit + 1}`

export const ruleById =
  (id: string): Query<ScheduledRule> =>
  (sql) =>
    sql`select ${standing(sql)} from rule r where r.id = ${id}`

export const ruleCount = sure(
  one<{ total: number }>({}, (sql) => sql`select count(*)::int as total from rule`),
)

export const rulePart = (id: string) =>
  one<Rule>(table.times, (sql) => sql`select ${columns(sql, 'r')} from rule r where r.id = ${id}`)

/** Undefined if the rule has been deleted. */
export const ruleOfRun = async (sql: Sql, id: string): Promise<Rule | undefined> =>
  (await sql<Rule>`select ${columns(sql, 'r')} from rule r where r.id = ${id}`)[0]

export const lockRule = async (sql: Sql, id: string): Promise<Rule> =>
  (await sql<Rule>`select ${columns(sql, 'r')} from rule r where r.id = ${id} for update`)[0] ??
  fail('not_found', 'no such rule')

/** Rules that no person has paused, by kind of trigger. Their number is bounded. */
export const activeRules = async (sql: Sql, kinds: TriggerKind[]): Promise<Rule[]> =>
  await sql<Rule>`select ${columns(sql, 'r')} from rule r where r.status = 'active'
    and r.trigger->>'kind' = any(${kinds}) order by r.id`

export const { insert: insertRule } = table

/** Saves what people change. */
export const saveRule =
  ({ id, ...rule }: Rule): Query =>
  (sql) =>
    sql`update rule set name = ${rule.name}, status = ${rule.status},
      trigger = ${sql.json(rule.trigger)},
      conditions = ${sql.json(rule.conditions)}, action = ${sql.json(rule.action)},
        daily_cap = ${rule.daily_cap},
      updated_at = ${rule.updated_at} where id = ${id}`

/** Saves what runs change. */
export const saveCounts =
  ({ id, day, used, over, last_run_at }: Rule): Query =>
  (sql) =>
    sql`update rule set day = ${day}, used = ${used}, over = ${over}, last_run_at = ${last_run_at}
      where id = ${id}`

export const deleteRule =
  (id: string): Query =>
  (sql) =>
    sql`delete from rule where id = ${id}`
