/** How fast a workspace may ask, by its plan. Pure. */

import type { PlanState } from '#contract/limits'
import type { Allowance } from '#kernel/allowance'
import type { Rate } from '#kernel/buckets'
import { planOf } from './plan.ts'

/** Commands are requests that change something; each is counted as both. */
export const rateKeys = ['requests', 'commands'] as const
export type RateKey = (typeof rateKeys)[number]

/** What rates are decided by. */
export type RatePlan = Pick<PlanState, 'plan' | 'overrides'>

/** An operator sets the sustained rate; the burst keeps its proportion. */
const scaled = ({ perSecond, burst }: Rate, to: number | undefined): Rate =>
  to === undefined ? { perSecond, burst } : { perSecond: to, burst: Math.max(1, Math.round((burst * to) / perSecond)) }

/** Of all credentials of a workspace together. */
export const rateOf = (state: RatePlan, key: RateKey): Rate => scaled(planOf(state).rates[key], state.overrides[key])

/** Of one credential, where an operator has set one; without it a credential has all that its workspace has. */
export const credentialRateOf = (state: RatePlan, key: RateKey): Rate | undefined => {
  const own = state.overrides[`credential_${key}`]
  return own === undefined ? undefined : scaled(planOf(state).rates[key], own)
}

/** A bucket as callers are told of it: its burst is what may be asked for in the time that it takes to fill. */
export const rateAllowance = (name: string, { perSecond, burst }: Rate, left: number): Allowance => ({
  name,
  limit: burst,
  window: Math.ceil(burst / perSecond),
  left: Math.floor(left),
  resetsIn: Math.ceil((burst - left) / perSecond),
})
