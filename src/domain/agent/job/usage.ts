/** What a workspace's agent may use, has used and has left, as callers see it. */
import type { AgentLimitKey } from '#contract/limits'
import { dayOf } from '#domain/app/read-budget'
import { monthOf, type PlanUsage } from '../../app/plan.ts'
import { agentLimit } from './budget.ts'

const CENT = 100

const leftOf = (limit: number, used: number): number | null =>
  limit < 0 ? null : Math.max(0, limit - used)

/**
 * What the agent may use, has used and has left. Costs are in whole cents: use is rounded up, the
 * rest down.
 */
export const usageView = (usage: PlanUsage, calls: readonly { tool: string; calls: number }[]) => {
  const limit = (key: AgentLimitKey): number => agentLimit(usage, key)
  const used = (key: AgentLimitKey, period: string): number =>
    usage.counters[`${key}@${period}`] ?? 0
  const [day, month] = [dayOf(usage.now), monthOf(usage.now)]
  const [tokensDay, tokensMonth] = [
    used('agent_tokens_day', day),
    used('agent_tokens_month', month),
  ]
  const costMonth = used('agent_cost_month', month)
  const [mostDay, mostMonth, mostCost] = [
    limit('agent_tokens_day'),
    limit('agent_tokens_month'),
    limit('agent_cost_month'),
  ]
  const costLeft = leftOf(mostCost, costMonth)
  const perHour = limit('agent_calls_hour')
  return {
    limits: {
      tokens_day: mostDay,
      tokens_month: mostMonth,
      cost_usd_cents_month: mostCost < 0 ? mostCost : Math.floor(mostCost / CENT),
      tool_calls_hour: perHour,
      max_steps: limit('agent_max_steps'),
    },
    usage: {
      tokens_day: tokensDay,
      tokens_month: tokensMonth,
      cost_usd_cents_month: Math.ceil(costMonth / CENT),
    },
    remaining: {
      tokens_day: leftOf(mostDay, tokensDay),
      tokens_month: leftOf(mostMonth, tokensMonth),
      cost_usd_cents_month: costLeft && Math.floor(costLeft / CENT),
    },
    tools_hour: calls.map((one) => ({ ...one, limit: perHour })),
  }
}
