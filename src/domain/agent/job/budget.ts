/**
 * What a workspace's agent may use: reserved before a model is called, and settled afterwards.
 * Pure.
 */

import type { AgentLimitKey } from '#contract/limits'
import { dayOf } from '#domain/app/read-budget'
import type { Spend } from '#kernel/spend'
import { agentBudgetsOf, type NearLimit, nearLimits, nearWords } from '../../app/nearing.ts'
import { monthOf, type PlanUsage, planOf } from '../../app/plan.ts'

/** Tokens reserved for the answer, if there is room. */
const ANSWER_TOKENS = 4_000
/** An answer shorter than this is not worth requesting. */
const FEWEST_ANSWER_TOKENS = 500
/**
 * Allows for any script: uuids and Japanese have far more tokens per character than English words.
 */
const TOKENS_PER_BYTE = 0.7

/**
 * `known`: the provider's count for the job's last request. `bytes`: what is new since then, or all
 * of the first request.
 */
export const estimateTokens = ({ known, bytes }: { known: number; bytes: number }): number =>
  Math.ceil(known + bytes * TOKENS_PER_BYTE)

/**
 * The share of a model's context that the messages of a conversation may fill. The rest is for
 * tools, results and the answer.
 */
const HISTORY_SHARE = 0.6

/**
 * How many bytes of a conversation's messages fit, for a model with a context of this many tokens.
 */
export const historyBytes = (contextTokens: number): number =>
  Math.floor((contextTokens * HISTORY_SHARE) / TOKENS_PER_BYTE)

export const agentLimit = ({ plan }: Pick<PlanUsage, 'plan'>, key: AgentLimitKey): number =>
  plan.overrides[key] ?? planOf(plan).agent[key]

/** -1 is no limit. */
const roomIn = (usage: PlanUsage, key: AgentLimitKey, period: string): number => {
  const limit = agentLimit(usage, key)
  return limit < 0 ? Number.POSITIVE_INFINITY : limit - (usage.counters[`${key}@${period}`] ?? 0)
}

/**
 * The cost of these tokens in and out, in hundredths of a US cent; null for a model without a
 * price.
 */
export type PriceOf = (tokens: { input: number; cached?: number; output: number }) => number | null

export interface CallReservation {
  tokens: number
  cost: number
  maxTokens: number
  day: string
  month: string
  spend: Spend[]
}

/**
 * Reserves a model call, with a shorter answer if only that fits. Otherwise returns the key of the
 * budget that is used up.
 */
export const reserve = (
  usage: PlanUsage,
  { input, priceOf }: { input: number; priceOf: PriceOf },
): CallReservation | AgentLimitKey => {
  const [day, month] = [dayOf(usage.now), monthOf(usage.now)]
  const rooms = [
    ['agent_tokens_day', roomIn(usage, 'agent_tokens_day', day)],
    ['agent_tokens_month', roomIn(usage, 'agent_tokens_month', month)],
  ] as const
  const [tightest, room] = rooms[0][1] <= rooms[1][1] ? rooms[0] : rooms[1]
  const maxTokens = Math.min(ANSWER_TOKENS, room - input)
  if (maxTokens < FEWEST_ANSWER_TOKENS) return tightest
  const cost = priceOf({ input, output: maxTokens }) ?? 0
  if (cost > roomIn(usage, 'agent_cost_month', month)) return 'agent_cost_month'
  const tokens = input + maxTokens
  return { tokens, cost, maxTokens, day, month, spend: spendOf({ tokens, cost }, { day, month }) }
}

const spendOf = (
  { tokens, cost }: { tokens: number; cost: number },
  { day, month }: { day: string; month: string },
): Spend[] =>
  [
    { key: 'agent_tokens_day', period: day, amount: tokens },
    { key: 'agent_tokens_month', period: month, amount: tokens },
    { key: 'agent_cost_month', period: month, amount: cost },
  ].filter(({ amount }) => amount !== 0)

interface Reserved {
  reserved_tokens: number
  reserved_cost: number
  day: string | null
  month: string | null
}

/**
 * Replaces a reservation by the actual use. A refund goes to the period that the reservation was
 * taken from; use beyond the estimate is charged to the present period.
 */
export const settleReservation = (
  reserved: Reserved,
  used: { tokens: number; cost: number },
  now: Date,
): Spend[] => {
  const present = { day: dayOf(now), month: monthOf(now) }
  const taken = { day: reserved.day ?? present.day, month: reserved.month ?? present.month }
  const [tokens, cost] = [
    used.tokens - reserved.reserved_tokens,
    used.cost - reserved.reserved_cost,
  ]
  return [
    ...spendOf({ tokens: Math.min(0, tokens), cost: Math.min(0, cost) }, taken),
    ...spendOf({ tokens: Math.max(0, tokens), cost: Math.max(0, cost) }, present),
  ]
}

export interface BudgetWarning {
  budget: AgentLimitKey
  period: string
  used: number
  limit: number
}

/**
 * The budgets of which a spend reaches four fifths. This happens once a period, unless part of it
 * is refunded and spent again.
 */
export const budgetWarnings = (usage: PlanUsage, spend: readonly Spend[]): BudgetWarning[] =>
  spend.flatMap(({ key, period, amount }) => {
    const budget = key as AgentLimitKey
    const limit = agentLimit(usage, budget)
    const before = usage.counters[`${key}@${period}`] ?? 0
    const line = limit * WARNED_AT
    return limit > 0 && before < line && before + amount >= line
      ? [{ budget, period, used: before + amount, limit }]
      : []
  })

const WARNED_AT = 0.8

/** What people are told about a budget that is used up. */
export const exhaustedNotice = (usage: PlanUsage, key: AgentLimitKey): string => {
  const budget = agentBudgetsOf(usage).find((one) => one.key === key)!
  return `The agent's budget is not enough for this. ${nearWords(budget)}`
}

/** The parts of the budgets that a job holds. */
type Holding = {
  input_tokens: number
  output_tokens: number
  reserved_tokens: number
  cost: number
  reserved_cost: number
}

/**
 * Budgets whose threshold for a warning this very job has crossed, so that each warning appears
 * once and not in every answer.
 */
export const nearedBy = (job: Holding, usage: PlanUsage): NearLimit[] => {
  const tokens = job.input_tokens + job.output_tokens + job.reserved_tokens
  const own = (key: string): number =>
    key === 'agent_cost_month' ? job.cost + job.reserved_cost : tokens
  return nearLimits(agentBudgetsOf(usage)).filter(
    ({ key, used, limit, level }) => used - own(key) < (limit * level) / 100,
  )
}
