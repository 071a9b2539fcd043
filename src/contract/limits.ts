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
