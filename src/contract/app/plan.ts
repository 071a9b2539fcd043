import { Type as T } from '@sinclair/typebox'
import { features } from '../limits.ts'
import { op } from '../op.ts'
import { oneOf, record, Time } from '../shapes.ts'
import { Reads } from '../shared-records.ts'

const Budget = record(
  {
    key: T.String({ description: 'The key that errors name, for example posts.' }),
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
      description: 'Unless ok, operations that cost are refused with plan_invalid; everything else works.',
    }),
    quotas: T.Array(Budget, {
      description: 'Monthly quotas. A generation uses its units when requested, and returns those not delivered.',
    }),
    caps: T.Array(Budget, { description: 'Hourly caps.' }),
    reads: T.Array(Reads, { description: 'Daily read budgets. The connected network determines the tier.' }),
    features: T.Array(oneOf(features), {
      description: 'The features of the plan. Operations of other features are refused with plan_feature_disabled.',
    }),
  },
  { title: 'Plan' },
)

export const plan = {
  get: op.query(
    'GET /api/v1/app/plan',
    'Read the plan. Shows its monthly and hourly limits, what is used, and when they reset. Only the operator of the deployment can change the plan.',
    { input: {}, output: record({ plan: Plan }) },
    { scope: 'session' },
  ),
}
