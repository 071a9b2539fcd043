/**
 * What reads of a network cost, and the daily budget they are taken from. On tier `payg` the platform bills each resource that it
 * answers with, so the budget is money; on `free` reads cost nothing, and the budget is a number of resources that keeps to what such
 * platforms let through.
 */
import { fail } from '#kernel/errors'
import type { Spend } from './plan.ts'

export const tiers = ['free', 'payg'] as const
export type Tier = (typeof tiers)[number]

/** `own_post`: of the connected account; `post`: of anybody else; `account`: who somebody is. */
export type ReadKind = 'own_post' | 'post' | 'account'

/** Millionths of a US dollar a resource: the platform's price list of 2026-04-20. */
export const readPrices: Record<ReadKind, number> = { own_post: 1_000, post: 5_000, account: 10_000 }

/** A day's budget: resources on `free`, millionths of a US dollar on `payg`. */
export const dailyReads: Record<Tier, number> = { free: 5_000, payg: 1_000_000 }

/** `2026-11-21`, in UTC: the day by which platforms bill. */
export const dayOf = (now: Date): string => now.toISOString().slice(0, 10)

/** Counted apart for each tier: their units differ. */
export const readCounter = (tier: Tier): string => `reads_${tier}`

export interface ReadBudget {
  tier: Tier
  /** Of the day, in the tier's unit. */
  limit: number
  used: number
}

/** What so many resources cost in the tier's unit. */
export const costOf = (tier: Tier, kind: ReadKind, resources: number): number => resources * (tier === 'payg' ? readPrices[kind] : 1)

/** Seconds until the next day, in UTC. */
export const untilTomorrow = (now: Date): number => 86_400 - Math.floor((now.getTime() / 1_000) % 86_400)

/** Reserves a read before it is made, or `x_read_budget_exhausted` with the seconds until the next day. What it then did not cost is given back. */
export const takeReads = ({ tier, limit, used }: ReadBudget, cost: number, now: Date): Spend => {
  if (used + cost > limit) fail('x_read_budget_exhausted', '', { retryAfter: untilTomorrow(now) })
  return { key: readCounter(tier), period: dayOf(now), amount: cost }
}
