/** When metrics of the workspace's posts are read, and what a read changes. */

import { countNames } from '#contract/records/growth/item'
import {
  affordable,
  costOf,
  dayOf,
  type ReadBudget,
  readCounter,
  settleReads,
  takeReads,
} from '#domain/app/read-budget'
import type { Spend } from '#kernel/spend'
import type { MetricSnapshot } from '../metrics.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A post's age at its first read. */
export const FIRST_READ_MS = 10 * MINUTE_MS
/** The interval to the next read, by the post's age at this one. Older posts are not read. */
export const readSteps = [
  { youngerMs: DAY_MS, everyMs: HOUR_MS },
  { youngerMs: 7 * DAY_MS, everyMs: 6 * HOUR_MS },
  { youngerMs: 30 * DAY_MS, everyMs: DAY_MS },
] as const
export const READ_FOR_MS = 30 * DAY_MS
/** Posts due this soon are read along, so that a workspace's reads come together. */
export const EARLY_MS = 10 * MINUTE_MS
/** Snapshots older than this are thinned to the last one of each day (UTC). */
export const DENSE_MS = 7 * DAY_MS

/** When a post that was read at `readAt` is read again; null: never. */
export const nextMetricsRead = (postedAt: Date, readAt: Date): Date | null => {
  const age = readAt.getTime() - postedAt.getTime()
  const step = readSteps.find(({ youngerMs }) => age < youngerMs)
  const next = step && readAt.getTime() + step.everyMs
  return next === undefined || next > postedAt.getTime() + READ_FOR_MS ? null : new Date(next)
}

/** Waits after failures in a row; doubled each time. */
const BACKOFF = { firstMs: MINUTE_MS, mostMs: 6 * HOUR_MS }

/** Why an account is not read for a while. */
export interface Wait {
  failures: number
  until: Date
}

/** The wait after another failure, at least as long as the network asks for. */
export const waitAfter = (before: Wait | undefined, now: Date, retryAfterMs = 0): Wait => {
  const failures = (before?.failures ?? 0) + 1
  const backoff = Math.min(BACKOFF.mostMs, BACKOFF.firstMs * 2 ** Math.min(failures - 1, 20))
  return {
    failures,
    until: new Date(now.getTime() + Math.min(DAY_MS, Math.max(backoff, retryAfterMs))),
  }
}

/** A claim's reservation from the day's budget. */
export interface ReadReservation {
  /** How many posts may be read: fewer than wanted if the budget is nearly spent. */
  posts: number
  reserved: Spend
  /**
   * What to add to the counter: an earlier reservation that was never settled pays for this one.
   */
  spend: Spend
}

/** Reserves as many of the wanted reads as the day's budget allows; null if none. */
export const reserveReads = (
  budget: ReadBudget,
  { wanted, before, now }: { wanted: number; before: Spend | undefined; now: Date },
): ReadReservation | null => {
  const key = { key: readCounter(budget.tier), period: dayOf(now) }
  const credit = before?.key === key.key && before.period === key.period ? before.amount : 0
  const open = { ...budget, used: budget.used - credit }
  const posts = Math.min(wanted, affordable(open, 'own_post'))
  if (posts <= 0) return null
  const reserved = takeReads(open, costOf(budget.tier, 'own_post', posts), now)
  return { posts, reserved, spend: { ...reserved, amount: reserved.amount - credit } }
}

/** The refund of a reservation of which `answered` posts were returned. */
export const unusedReads = (
  budget: Pick<ReadBudget, 'tier'>,
  reserved: Spend,
  answered: number,
): Spend[] => {
  const left = settleReads(reserved, costOf(budget.tier, 'own_post', answered))
  return left.amount < 0 ? [left] : []
}

/** The snapshots with news: the first of an item, or one with a changed number. */
export const changes = (read: MetricSnapshot[], latest: MetricSnapshot[]): MetricSnapshot[] => {
  const known = new Map(latest.map((one) => [one.item_id, one]))
  return read.filter((one) => {
    const before = known.get(one.item_id)
    return !before || countNames.some((name) => before[name] !== one[name])
  })
}
