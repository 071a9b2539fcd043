/**
 * The cost of network reads, and the daily budget that pays for them. On tier `payg` the platform
 * bills each resource it returns, so the budget is money. On `free` reads cost nothing, and the
 * budget is a number of resources within such platforms' rate limits.
 */

import { fail } from '#kernel/errors'
import type { Spend } from '#kernel/spend'
import { type Plan, type PlanUsage, planOf } from './plan.ts'

export const tiers = ['free', 'payg'] as const satisfies (keyof Plan['reads'])[]
export type Tier = (typeof tiers)[number]

/** `own_post`: a post of the connected account. `post`: anybody else's. `account`: a profile. */
export type ReadKind = 'own_post' | 'post' | 'account'

/** Millionths of a US dollar for a resource, from the platform's price list of 2026-04-20. */
export const readPrices: Record<ReadKind, number> = {
  own_post: 1_000,
  post: 5_000,
  account: 10_000,
}

/** `2026-11-21`, in UTC: the day by which platforms bill. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10)

/** Tiers have separate counters because their units differ. */
export const readCounter = <T extends Tier>(tier: T): `reads_${T}` => `reads_${tier}`

/** One day's budget, in the tier's unit. */
export interface ReadBudget {
  tier: Tier
  limit: number
  used: number
  /** The part of the limit reserved for resolving doubt about posts. */
  reserved: number
}

/** A tenth of the day: doubt about a post can be resolved whatever watching has spent. */
const RESERVED_SHARE = 0.1

export const readBudgetOf = ({ plan, counters, now }: PlanUsage, tier: Tier): ReadBudget => {
  const key = readCounter(tier)
  const limit = plan.overrides[key] ?? planOf(plan).reads[tier]
  return {
    tier,
    limit,
    used: counters[`${key}@${dayOf(now)}`] ?? 0,
    reserved: Math.floor(limit * RESERVED_SHARE),
  }
}

/** The cost of `resources` reads, in the tier's unit. */
export const costOf = (tier: Tier, kind: ReadKind, resources: number): number =>
  resources * (tier === 'payg' ? readPrices[kind] : 1)

/** Seconds until the next day, in UTC. */
export const untilTomorrow = (now: Date): number =>
  86_400 - Math.floor((now.getTime() / 1_000) % 86_400)

const DAY_MS = 86_400_000

/** The start of the next day, in UTC. */
export const tomorrow = (now: Date): Date =>
  new Date((Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS)

/** The budget as the API shows it. */
export const readsView = (budget: PlanUsage, tier: Tier) => ({
  ...readBudgetOf(budget, tier),
  unit: unitOf[tier],
  resets_at: tomorrow(budget.now),
})
const unitOf = { free: 'resources', payg: 'usd_micros' } as const

/** The limit for all reads but those that resolve doubt. */
const spendable = ({ limit, reserved }: ReadBudget): number => limit - reserved

/** When a read of this cost can be paid for: now, at the start of the next day, or never (null). */
export const affordableAt = (budget: ReadBudget, cost: number, now: Date): Date | null => {
  if (cost > spendable(budget)) return null
  return budget.used + cost > spendable(budget) ? tomorrow(now) : now
}

/** How many resources of a kind can still be read today. */
export const affordable = (budget: ReadBudget, kind: ReadKind): number =>
  Math.max(0, Math.floor((spendable(budget) - budget.used) / costOf(budget.tier, kind, 1)))

/**
 * Reserves the most a read can cost, before it is made. Throws `x_read_budget_exhausted`, with the
 * seconds until the next day. `settleReads` gives back what was not read. A resource read twice in
 * a day is charged twice, though platforms bill it once: the budget never falls below the bill, and
 * nobody has to remember what was read.
 */
export const takeReads = (budget: ReadBudget, cost: number, now: Date): Spend => {
  if (budget.used + cost > spendable(budget))
    fail('x_read_budget_exhausted', '', { retryAfter: untilTomorrow(now) })
  return { key: readCounter(budget.tier), period: dayOf(now), amount: cost }
}

/** The refund of a reservation once the read's cost is known, to the day it was taken from. */
export const settleReads = (taken: Spend, cost: number): Spend => ({
  ...taken,
  amount: Math.min(0, cost - taken.amount),
})

/** The same for a read that may cost more than was reserved: that too is charged. */
export const balanceReads = (taken: Spend, cost: number): Spend => ({
  ...taken,
  amount: cost - taken.amount,
})

/**
 * Charges reads that resolve doubt about a post after they were made, from the reserve if need be.
 * They are never refused.
 */
export const chargeDoubtRead = (tier: Tier, resources: number, now: Date): Spend => ({
  key: readCounter(tier),
  period: dayOf(now),
  amount: costOf(tier, 'own_post', resources),
})
