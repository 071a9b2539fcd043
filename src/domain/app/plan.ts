/**
 * Plans as data: features, monthly quotas, hourly caps. An operator can override single numbers for
 * a workspace.
 */
import {
  type AgentLimitKey,
  type CapKey,
  features,
  isCostly,
  type PlanFeature,
  type PlanState,
  type QuotaKey,
} from '#contract/limits'
import type { Rate } from '#kernel/buckets'
import { fail } from '#kernel/errors'
import type { Spend } from '#kernel/spend'

export interface Plan {
  features: readonly PlanFeature[]
  quotas: Record<QuotaKey, number>
  caps: Record<CapKey, number>
  /** Network reads a day: resources on `free`, millionths of a US dollar on `payg`. */
  reads: { free: number; payg: number }
  /** The budgets of the agent. */
  agent: Record<AgentLimitKey, number>
  /** Documents that the workspace may have. */
  documents: number
  /**
   * What these documents may take in the database, in millions of bytes, including passages and
   * words.
   */
  document_mb: number
  /** All credentials of a workspace together, in each process. */
  rates: { requests: Rate; commands: Rate }
}

export const plans = {
  free: {
    features: ['articles', 'audits', 'reports'],
    quotas: { posts: 60, articles: 4, audits: 2, reports: 4 },
    caps: {
      create_batch: 10,
      create_article: 4,
      create_audit: 2,
      create_report: 2,
      create_engagement: 10,
      execute_engagement: 10,
      post_now: 20,
      create_item: 500,
      redraft: 60,
      link_code: 60,
    },
    agent: {
      agent_tokens_day: 200_000,
      agent_tokens_month: 2_000_000,
      agent_cost_month: 50_000,
      agent_calls_hour: 60,
      agent_max_steps: 15,
    },
    documents: 50,
    document_mb: 50,
    reads: { free: 1_000, payg: 200_000 },
    rates: { requests: { perSecond: 100, burst: 1_000 }, commands: { perSecond: 30, burst: 500 } },
  },
  creator: {
    features: ['articles', 'audits', 'reports', 'experiments', 'engagement'],
    quotas: { posts: 600, articles: 40, audits: 20, reports: 20 },
    caps: {
      create_batch: 30,
      create_article: 10,
      create_audit: 5,
      create_report: 5,
      create_engagement: 30,
      execute_engagement: 30,
      post_now: 60,
      create_item: 500,
      redraft: 60,
      link_code: 60,
    },
    agent: {
      agent_tokens_day: 1_000_000,
      agent_tokens_month: 10_000_000,
      agent_cost_month: 300_000,
      agent_calls_hour: 120,
      agent_max_steps: 25,
    },
    documents: 500,
    document_mb: 500,
    reads: { free: 3_000, payg: 500_000 },
    rates: {
      requests: { perSecond: 333, burst: 3_333 },
      commands: { perSecond: 100, burst: 1_667 },
    },
  },
  team: {
    features,
    quotas: { posts: 3_000, articles: 200, audits: 100, reports: 100 },
    caps: {
      create_batch: 120,
      create_article: 40,
      create_audit: 20,
      create_report: 20,
      create_engagement: 120,
      execute_engagement: 120,
      post_now: 240,
      create_item: 500,
      redraft: 60,
      link_code: 60,
    },
    agent: {
      agent_tokens_day: 5_000_000,
      agent_tokens_month: 50_000_000,
      agent_cost_month: 2_000_000,
      agent_calls_hour: 300,
      agent_max_steps: 40,
    },
    documents: 2_000,
    document_mb: 2_000,
    reads: { free: 5_000, payg: 1_000_000 },
    rates: {
      requests: { perSecond: 1_000, burst: 10_000 },
      commands: { perSecond: 300, burst: 5_000 },
    },
  },
} as const satisfies Record<string, Plan>

export type PlanName = keyof typeof plans
export const planNames = Object.keys(plans) as PlanName[]

/**
 * The plan of a new workspace on a self-hosted deployment. The operator changes it with
 * `tendril admin plan set`.
 */
export const defaultPlan: PlanName = 'team'

/** `2026-11`, in UTC. */
export const monthOf = (now: Date): string => now.toISOString().slice(0, 7)
/** `2026-11-21T07`, in UTC. */
export const hourOf = (now: Date): string => now.toISOString().slice(0, 13)

/** A plan that no longer exists counts as the default plan. */
export const planOf = ({ plan }: Pick<PlanState, 'plan'>): Plan =>
  plans[plan as PlanName] ?? plans[defaultPlan]

/**
 * Why nothing that costs money may run now, such as a model call, a metered read or a post.
 * Undefined while billing is in order.
 */
export const unpaid = ({ billing }: Pick<PlanState, 'billing'>): string | undefined =>
  billing === 'ok' ? undefined : `plan_invalid:${billing}`

/**
 * Throws `plan_invalid`: actions that cost money stop when billing is not in order. Reads stay
 * open.
 */
export const requireBilling = ({ billing }: Pick<PlanState, 'billing'>): void => {
  if (billing !== 'ok') fail('plan_invalid', billing)
}

/** Throws `plan_feature_disabled`. */
export const requireFeature = (state: PlanState, feature: PlanFeature): void => {
  if (!hasFeature(state, feature)) fail('plan_feature_disabled', feature)
}

export const hasFeature = (state: PlanState, feature: PlanFeature): boolean =>
  state.overrides.features?.[feature] ?? planOf(state).features.includes(feature)

/** The input of every decision on limits; the gate of a letter supplies it. */
export interface PlanUsage {
  plan: PlanState
  counters: Record<string, number>
  now: Date
}

/** Takes the whole spend of a generation when it is admitted. Throws `plan_quota_exceeded`. */
export const takeQuota = (
  { plan, counters, now }: PlanUsage,
  key: QuotaKey,
  amount: number,
): Spend => {
  requireBilling(plan)
  const period = monthOf(now)
  const limit = plan.overrides[key] ?? planOf(plan).quotas[key]
  if ((counters[`${key}@${period}`] ?? 0) + amount > limit) fail('plan_quota_exceeded', key)
  return { key, period, amount }
}

/**
 * Takes one use of a capped action. Throws `rate_limited` with the seconds until the next hour, or
 * first `plan_invalid` if the action costs money.
 */
export const takeCap = ({ plan, counters, now }: PlanUsage, key: CapKey): Spend => {
  if (isCostly(key)) requireBilling(plan)
  const period = hourOf(now)
  const limit = plan.overrides[key] ?? planOf(plan).caps[key]
  const used = counters[`${key}@${period}`] ?? 0
  if (used + 1 > limit)
    fail('rate_limited', key, { retryAfter: 3_600 - Math.floor((now.getTime() / 1_000) % 3_600) })
  return { key, period, amount: 1 }
}

/** How much of a quota or a cap is used in its period. */
export interface LimitUsage {
  key: string
  used: number
  limit: number
  period: string
  resets_at: Date
}

/** The start of the next quota period. */
export const nextMonth = (now: Date): Date =>
  new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
const nextHour = (now: Date): Date => new Date(Math.floor(now.getTime() / HOUR_MS + 1) * HOUR_MS)
const HOUR_MS = 3_600_000

/** All quotas and caps of a workspace, by the figures that refusals compare. */
export const budgetsOf = ({
  plan,
  counters,
  now,
}: PlanUsage): { quotas: LimitUsage[]; caps: LimitUsage[] } => {
  const { quotas, caps } = planOf(plan)
  const used = (limits: Record<string, number>, period: string, resets_at: Date): LimitUsage[] =>
    Object.entries(limits).map(([key, limit]) => ({
      key,
      used: counters[`${key}@${period}`] ?? 0,
      period,
      resets_at,
      limit: plan.overrides[key as QuotaKey | CapKey] ?? limit,
    }))
  return {
    quotas: used(quotas, monthOf(now), nextMonth(now)),
    caps: used(caps, hourOf(now), nextHour(now)),
  }
}
