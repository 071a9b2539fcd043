/** What plans limit, by name; the numbers are in domain/plan.ts. An operation says which of them it takes. */

/** What a workspace may spend its month on; one unit per item asked for, or per record. */
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
] as const
export type CapKey = (typeof capKeys)[number]

/** What a plan may leave out. Drafting posts, approving and posting belong to every plan. */
export const features = ['articles', 'audits', 'reports', 'experiments', 'engagement', 'rules'] as const
export type PlanFeature = (typeof features)[number]

/** What of a plan has a number that an operator may replace. */
export type LimitKey = QuotaKey | CapKey | 'reads_free' | 'reads_payg' | RateKey | `credential_${RateKey}`
type RateKey = 'requests' | 'commands'

export const billingStates = ['ok', 'billing_suspended', 'trial_expired', 'grace_period_ended', 'plan_expired'] as const
export type Billing = (typeof billingStates)[number]

export interface PlanState {
  plan: string
  billing: Billing
  overrides: PlanOverrides
}

/** What an operator has put in the place of the plan's numbers, and which features were added or taken away. */
export interface PlanOverrides extends Partial<Record<LimitKey, number>> {
  features?: Partial<Record<PlanFeature, boolean>>
}
