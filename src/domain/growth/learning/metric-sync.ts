/** When the numbers of own posts are read again, and what becomes of a read: the rules of the metrics sync, as data and pure functions. */

import { affordable, costOf, dayOf, type ReadBudget, readCounter, settleReads, takeReads } from '#domain/app/read-budget'
import type { Spend } from '#kernel/spend'
import type { MetricSnapshot, Metrics } from '../metrics.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A post is read first when so much time has passed since it went out. */
export const FIRST_READ_MS = 10 * MINUTE_MS
/** By its age when it was read last: how long until it is read again. Older posts are left as they are. */
export const readSteps = [
  { youngerMs: DAY_MS, everyMs: HOUR_MS },
  { youngerMs: 7 * DAY_MS, everyMs: 6 * HOUR_MS },
  { youngerMs: 30 * DAY_MS, everyMs: DAY_MS },
] as const
export const READ_FOR_MS = 30 * DAY_MS
/** What is due so soon is read along, so that a workspace's posts come together. */
export const EARLY_MS = 10 * MINUTE_MS
/** Snapshots older than this are thinned out to the last one of a day (UTC). */
export const DENSE_MS = 7 * DAY_MS

/** When a post is read again that was read now; null: no more. */
export const nextMetricsRead = (postedAt: Date, readAt: Date): Date | null => {
  const age = readAt.getTime() - postedAt.getTime()
  const step = readSteps.find(({ youngerMs }) => age < youngerMs)
  const next = step && readAt.getTime() + step.everyMs
  return next === undefined || next > postedAt.getTime() + READ_FOR_MS ? null : new Date(next)
}

/** Waits after failures in a row, doubled each time. */
const BACKOFF = { firstMs: MINUTE_MS, mostMs: 6 * HOUR_MS }

/** Why an account is left alone for a while. */
export interface Wait {
  failures: number
  until: Date
}

/** After one failure more than `before`; not sooner than the network asks for. */
export const waitAfter = (before: Wait | undefined, now: Date, retryAfterMs = 0): Wait => {
  const failures = (before?.failures ?? 0) + 1
  const backoff = Math.min(BACKOFF.mostMs, BACKOFF.firstMs * 2 ** Math.min(failures - 1, 20))
  return { failures, until: new Date(now.getTime() + Math.min(DAY_MS, Math.max(backoff, retryAfterMs))) }
}

/** What a claim reserves of the day. */
export interface ReadReservation {
  /** So many posts may be asked for; fewer than wanted where the budget is nearly spent. */
  posts: number
  reserved: Spend
  /** What is added to the counter: a read that was reserved before and has not come back pays for this one. */
  spend: Spend
}

/** Reserves the read of as many of the wanted posts as the day's budget has left; null when it has none left. */
export const reserve = (
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

/** What of a reservation goes back, when so many posts were answered with. */
export const unusedReads = (budget: Pick<ReadBudget, 'tier'>, reserved: Spend, answered: number): Spend[] => {
  const left = settleReads(reserved, costOf(budget.tier, 'own_post', answered))
  return left.amount < 0 ? [left] : []
}

const measures = ['impressions', 'likes', 'replies', 'reposts', 'quotes', 'clicks'] as const satisfies (keyof Metrics)[]

/** The snapshots that say something new: of items without an earlier one, or with another number in it. */
export const changes = (read: MetricSnapshot[], latest: MetricSnapshot[]): MetricSnapshot[] => {
  const known = new Map(latest.map((one) => [one.item_id, one]))
  return read.filter((one) => {
    const before = known.get(one.item_id)
    return !before || measures.some((name) => before[name] !== one[name])
  })
}
