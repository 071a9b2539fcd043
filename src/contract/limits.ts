/**
 * The names of what plans limit. The numbers are in domain/app/plan.ts; each operation declares the
 * limits it counts against.
 */

/** Monthly quotas. Each requested item, or each record, takes one unit. */
export const quotaKeys = ['posts', 'articles', 'audits', 'reports'] as const
export type QuotaKey = (typeof quotaKeys)[number]

/** Actions with an hourly cap. */
export const capKeys = [
  'create_batch',
  'create_article',
  'create_audit',
  'create_report',
  'create_engagement',
  'execute_engagement',
  'post_now',
  'create_item',
  'redraft',
  'link_code',
] as const
export type CapKey = (typeof capKeys)[number]

/**
 * Capped actions that cost nothing: a person's own text, a code. They work whatever the state of
 * billing.
 */
const freeCaps: readonly CapKey[] = ['create_item', 'link_code']
export const isCostly = (cap: CapKey): boolean => !freeCaps.includes(cap)

/**
 * What the agent of a workspace may use: tokens, hundredths of a US cent, calls of one tool per
 * hour, model calls per job. -1 means no limit.
 */
export const agentLimitKeys = [
  'agent_tokens_day',
  'agent_tokens_month',
  'agent_cost_month',
  'agent_calls_hour',
  'agent_max_steps',
] as const
export type AgentLimitKey = (typeof agentLimitKeys)[number]

/** How much of something a workspace may have. */
export const stockKeys = ['documents', 'document_mb'] as const
type StockKey = (typeof stockKeys)[number]

/** Features that a plan may lack. Every plan includes drafting posts, approving and posting. */
export const features = [
  'articles',
  'audits',
  'reports',
  'experiments',
  'engagement',
  'rules',
] as const
export type PlanFeature = (typeof features)[number]

/** The numbers of a plan that an operator can override. */
export type LimitKey =
  | QuotaKey
  | CapKey
  | AgentLimitKey
  | StockKey
  | 'reads_free'
  | 'reads_payg'
  | RateKey
  | `credential_${RateKey}`
type RateKey = 'requests' | 'commands'

export const billingStates = [
  'ok',
  'billing_suspended',
  'trial_expired',
  'grace_period_ended',
  'plan_expired',
] as const
export type Billing = (typeof billingStates)[number]

export interface PlanState {
  plan: string
  billing: Billing
  overrides: PlanOverrides
}

/** An operator's changes to a plan: numbers by limit, and features switched on or off. */
export interface PlanOverrides extends Partial<Record<LimitKey, number>> {
  features?: Partial<Record<PlanFeature, boolean>>
}
