import { Type as T } from '@sinclair/typebox'
import { features } from '../limits.ts'
import { op } from '../op.ts'
import { oneOf, record, Time } from '../shapes.ts'
import { Reads } from '../shared-records.ts'

const Budget = record(
  {
    key: T.String({ description: 'For example posts: the word that a refusal ends with.' }),
    used: T.Integer(),
    limit: T.Integer(),
    period: T.String({ description: 'A month or an hour, in UTC.', examples: ['2026-11'] }),
    resets_at: Time,
  },
  { title: 'Budget' },
)

const Plan = record(
  {
    name: T.String(),
    billing: oneOf(['ok', 'billing_suspended', 'trial_expired', 'grace_period_ended', 'plan_expired'], {
      description: 'Anything but ok: what costs is refused with plan_invalid; the rest stays open.',
    }),
    quotas: T.Array(Budget, { description: 'By the month: what generations take when they are asked for, and give back undelivered.' }),
    caps: T.Array(Budget, { description: 'By the hour.' }),
    reads: T.Array(Reads, { description: 'By the day. The connected network says which tier holds.' }),
    features: T.Array(oneOf(features), { description: 'Operations of others are refused with plan_feature_disabled.' }),
  },
  { title: 'Plan' },
)

export const plan = {
  get: op(
    'GET /api/v1/app/plan',
    'Read the plan. What it allows by the month and by the hour, what of it is used, and when that begins anew. The operator of the deployment changes it.',
    { input: {}, output: record({ plan: Plan }) },
    { scope: 'session' },
  ),
}
