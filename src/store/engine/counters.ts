/**
 * Amounts used of quotas, caps and read budgets. Each key has one row, which counts one period at a
 * time.
 */
import type { Spend } from '#kernel/spend'
import type { Fragment, Sql } from './db.ts'

/**
 * Amounts of one key by period. All periods of a key have the same form (month, day or hour), so
 * they can be compared as text.
 */
type Amounts = Record<string, number>

/**
 * Ordinary clock corrections are smaller than this. A period further ahead comes from a clock that
 * was wrong.
 */
const CLOCK_STEP_MS = 3_600_000

const byKey = (spends: readonly Spend[]): Map<string, Amounts> => {
  const keys = new Map<string, Amounts>()
  for (const { key, period, amount } of spends) {
    const amounts = keys.get(key) ?? {}
    keys.set(key, { ...amounts, [period]: (amounts[period] ?? 0) + amount })
  }
  return keys
}

/**
 * One part for each key: if two parts of a statement changed the same row, only one of them would
 * take effect.
 */
export const spendParts = (sql: Sql, spends: readonly Spend[] = [], now: Date): Fragment[] =>
  [...byKey(spends)].map(([key, amounts]) => {
    const charged = Object.keys(amounts).filter((period) => amounts[period]! > 0)
    const newest = charged.sort().at(-1)
    return newest === undefined
      ? giveBack(sql, key, amounts)
      : charge(sql, { key, amounts, period: newest, now })
  })

/** A refund to a period that is no longer counted changes nothing. */
const giveBack = (sql: Sql, key: string, amounts: Amounts): Fragment =>
  sql`update counter set used = greatest(0, used + (${sql.json(amounts)}::jsonb->>period)::int)
      where key = ${key} and ${sql.json(amounts)}::jsonb ? period`

interface Charge {
  key: string
  amounts: Amounts
  /** The newest period charged. */
  period: string
  now: Date
}

/** A charge to a period older than the one being counted changes nothing. */
const charge = (sql: Sql, { key, amounts, period, now }: Charge): Fragment => {
  const furthest = new Date(now.getTime() + CLOCK_STEP_MS).toISOString()
  const counted = sql`case when c.period > excluded.period
    and c.period <= left(${furthest}, length(c.period)) then c.period else excluded.period end`
  return sql`insert into counter as c (key, period, used)
    values (${key}, ${period}, ${amounts[period]!})
    on conflict (tenant_id, key) do update set period = ${counted},
      used = greatest(0, case when c.period = ${counted} then c.used
        else 0 end + coalesce((${sql.json(amounts)}::jsonb->>(${counted}))::int, 0))`
}
