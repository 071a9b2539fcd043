/**
 * What reads of a network cost, and the daily budget they are taken from. On tier `payg` the platform bills each resource that it
 * answers with, so the budget is money; on `free` reads cost nothing, and the budget is a number of resources that keeps to what such
 * platforms let through.
 */

import { fail } from '#kernel/errors'
import type { Spend } from '#kernel/spend'
import { type Plan, type PlanUsage, planOf } from './plan.ts'

export const tiers = ['free', 'payg'] as const satisfies (keyof Plan['reads'])[]
export type Tier = (typeof tiers)[number]

/** `own_post`: of the connected account; `post`: of anybody else; `account`: who somebody is. */
export type ReadKind = 'own_post' | 'post' | 'account'

/** Millionths of a US dollar a resource: the platform's price list of 2026-04-20. */
const readPrices: Record<ReadKind, number> = { own_post: 1_000, post: 5_000, account: 10_000 }

/** `2026-11-21`, in UTC: the day by which platforms bill. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10)

/** Counted apart for each tier: their units differ. */
export const readCounter = <T extends Tier>(tier: T): `reads_${T}` => `reads_${tier}`

/** Of a day, in the tier's unit. */
export interface ReadBudget {
  tier: Tier
  limit: number
  used: number
  /** The part of the limit that is kept for finding out what became of a post. */
  reserved: number
}

/** A tenth of the day: whatever watching has spent, doubt about a post can be resolved. */
const RESERVED_SHARE = 0.1

/** What the workspace may read today. The network says the tier: `limits.tier`. */
export const readBudgetOf = ({ plan, counters, now }: PlanUsage, tier: Tier): ReadBudget => {
  const key = readCounter(tier)
  const limit = plan.overrides[key] ?? planOf(plan).reads[tier]
  return { tier, limit, used: counters[`${key}@${dayOf(now)}`] ?? 0, reserved: Math.floor(limit * RESERVED_SHARE) }
}

/** What so many resources cost in the tier's unit. */
export const costOf = (tier: Tier, kind: ReadKind, resources: number): number => resources * (tier === 'payg' ? readPrices[kind] : 1)

/** Seconds until the next day, in UTC. */
export const untilTomorrow = (now: Date): number => 86_400 - Math.floor((now.getTime() / 1_000) % 86_400)

const DAY_MS = 86_400_000

/** When the next day begins, in UTC. */
export const tomorrow = (now: Date): Date => new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS)

/** The budget as people see it. */
export const readsView = (budget: PlanUsage, tier: Tier) => ({
  ...readBudgetOf(budget, tier),
  unit: unitOf[tier],
  resets_at: tomorrow(budget.now),
})
const unitOf = { free: 'resources', payg: 'usd_micros' } as const

/** What is left of it today for reads other than those that resolve doubt. */
const spendable = ({ limit, reserved }: ReadBudget): number => limit - reserved

/** When a read of this cost can be paid for: now, when the next day begins, or never. */
export const affordableAt = (budget: ReadBudget, cost: number, now: Date): Date | null => {
  if (cost > spendable(budget)) return null
  return budget.used + cost > spendable(budget) ? tomorrow(now) : now
}

/** How many resources of a kind may still be read today. */
export const affordable = (budget: ReadBudget, kind: ReadKind): number =>
  Math.max(0, Math.floor((spendable(budget) - budget.used) / costOf(budget.tier, kind, 1)))

/**
 * Reserves a read before it is made, or `x_read_budget_exhausted` with the seconds until the next day. What was not read is given
 * back by `settleReads`. A resource that is read twice in a day is charged twice, though platforms bill it once: so the budget is
 * never less than the bill, and nothing must be remembered of what was read.
 */
export const takeReads = (budget: ReadBudget, cost: number, now: Date): Spend => {
  if (budget.used + cost > spendable(budget)) fail('x_read_budget_exhausted', '', { retryAfter: untilTomorrow(now) })
  return { key: readCounter(budget.tier), period: dayOf(now), amount: cost }
}

/** What of a reservation is given back once the read's cost is known, to the day that it was taken from; a reservation is the most that a read may cost. */
export const settleReads = (taken: Spend, cost: number): Spend => ({ ...taken, amount: Math.min(0, cost - taken.amount) })

/** Reads that resolve doubt about a post are charged as they were made, out of the reserve if need be, and never refused. */
export const chargeDoubtRead = (tier: Tier, resources: number, now: Date): Spend => ({
  ...{ key: readCounter(tier), period: dayOf(now), amount: costOf(tier, 'own_post', resources) },
})
