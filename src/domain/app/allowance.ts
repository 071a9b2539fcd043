/**
 * The limits that apply to an operation, from the counters that the gate of a letter read. Pure.
 */
import type { CapKey, QuotaKey } from '#contract/limits'
import type { Allowance } from '#kernel/allowance'
import type { Spend } from '#kernel/spend'
import { budgetsOf, nextMonth, type PlanUsage } from './plan.ts'

const HOUR_S = 3_600

const monthSeconds = (now: Date): number => {
  const end = nextMonth(now)
  return (end.getTime() - Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1)) / 1_000
}

/**
 * The cap first, then the quota. `spend`: what the decision takes, which the gate's counters do not
 * include yet.
 */
export const allowancesOf = (
  budget: PlanUsage,
  { cap, quota }: { cap?: CapKey | undefined; quota?: QuotaKey | undefined },
  spend: readonly Spend[] = [],
): Allowance[] => {
  if (!cap && !quota) return []
  const { caps, quotas } = budgetsOf(budget)
  const window: Record<string, number> = {
    [cap ?? '']: HOUR_S,
    [quota ?? '']: monthSeconds(budget.now),
  }
  return [caps.find(({ key }) => key === cap), quotas.find(({ key }) => key === quota)].flatMap(
    (one) => {
      if (!one) return []
      const taken = spend
        .filter(({ key }) => key === one.key)
        .reduce((sum, { amount }) => sum + amount, one.used)
      const resetsIn = Math.ceil((one.resets_at.getTime() - budget.now.getTime()) / 1_000)
      return [
        {
          name: one.key,
          limit: one.limit,
          window: window[one.key]!,
          left: Math.max(0, one.limit - taken),
          resetsIn,
        },
      ]
    },
  )
}
