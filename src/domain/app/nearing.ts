/**
 * Limits that are nearly or completely used up. Answers, the brief and the plan mention them. Pure.
 */
import type { AgentLimitKey } from '#contract/limits'
import { type LimitUsage, monthOf, nextMonth, type PlanUsage, planOf } from './plan.ts'
import { dayOf, tomorrow } from './read-budget.ts'

export interface NearLimit extends LimitUsage {
  /** 80: four fifths are used; 100: everything is. */
  level: 80 | 100
  message: string
}

const names: Record<string, string> = {
  posts: "this month's posts",
  articles: "this month's articles",
  audits: "this month's audits",
  reports: "this month's reports",
  agent_tokens_day: "the agent's tokens of today",
  agent_tokens_month: "the agent's tokens of this month",
  agent_cost_month: "the agent's money of this month",
}

/** Hundredths of a US cent in a dollar. */
const IN_DOLLAR = 10_000

const amount = (key: string, of: number): string =>
  key === 'agent_cost_month' ? `${(of / IN_DOLLAR).toFixed(2)} USD` : of.toLocaleString('en-US')

const timeOf = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' at ')} UTC`

/** How much is used, when it starts again, and who can raise it. */
export const nearWords = ({ key, used, limit, resets_at }: Omit<LimitUsage, 'period'>): string => {
  const name = names[key] ?? key
  const state =
    used >= limit
      ? `All of ${name} is used: ${amount(key, used)} of ${amount(key, limit)}.`
      : `${Math.floor((used / limit) * 100)} % of ${name} is used: ${amount(key, used)} of ${amount(key, limit)}.`
  return `${state} A new count starts on ${timeOf(resets_at)}; whoever runs this deployment can raise the limit (${key}).`
}

const NEARLY = 0.8

/**
 * The limits of which four fifths are used. A limit of -1 is none, and a limit of 0 is never nearly
 * used up.
 */
export const nearLimits = (all: readonly LimitUsage[]): NearLimit[] =>
  all
    .filter(({ used, limit }) => limit > 0 && used >= limit * NEARLY)
    .map((one) => ({ ...one, level: one.used >= one.limit ? 100 : 80, message: nearWords(one) }))

/** The budgets of the agent. A limit of -1 is none. */
export const agentBudgetsOf = ({ plan, counters, now }: PlanUsage): LimitUsage[] => {
  const of = (key: AgentLimitKey, period: string, resets_at: Date): LimitUsage => ({
    key,
    used: counters[`${key}@${period}`] ?? 0,
    limit: plan.overrides[key] ?? planOf(plan).agent[key],
    period,
    resets_at,
  })
  return [
    of('agent_tokens_day', dayOf(now), tomorrow(now)),
    of('agent_tokens_month', monthOf(now), nextMonth(now)),
    of('agent_cost_month', monthOf(now), nextMonth(now)),
  ]
}
