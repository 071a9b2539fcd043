/** Request rates of a workspace, by its plan. Pure. */

import type { PlanState } from '#contract/limits'
import type { Allowance } from '#kernel/allowance'
import type { Rate } from '#kernel/buckets'
import { planOf } from './plan.ts'

/** Commands are requests that change something. Each counts as both. */
export const rateKeys = ['requests', 'commands'] as const
export type RateKey = (typeof rateKeys)[number]

export type RatePlan = Pick<PlanState, 'plan' | 'overrides'>

/** An operator sets the sustained rate; the burst keeps its proportion. */
const scaleRate = ({ perSecond, burst }: Rate, to: number | undefined): Rate =>
  to === undefined
    ? { perSecond, burst }
    : { perSecond: to, burst: Math.max(1, Math.round((burst * to) / perSecond)) }

/** The rate of all credentials of a workspace together. */
export const rateOf = (state: RatePlan, key: RateKey): Rate =>
  scaleRate(planOf(state).rates[key], state.overrides[key])

/**
 * The rate of one credential, if an operator has set one. Otherwise a credential may use all of its
 * workspace's rate.
 */
export const credentialRateOf = (state: RatePlan, key: RateKey): Rate | undefined => {
  const own = state.overrides[`credential_${key}`]
  return own === undefined ? undefined : scaleRate(planOf(state).rates[key], own)
}

/**
 * A bucket as response headers show it. The limit is the burst; the window is the time in which an
 * empty bucket fills.
 */
export const rateAllowance = (
  name: string,
  { perSecond, burst }: Rate,
  left: number,
): Allowance => ({
  name,
  limit: burst,
  window: Math.ceil(burst / perSecond),
  left: Math.floor(left),
  resetsIn: Math.ceil((burst - left) / perSecond),
})
