import { op } from '../op.ts'
import { record } from '../shapes.ts'
import { PlanSchema } from '../shared-records.ts'

export const plan = {
  get: op.query(
    'GET /api/v1/app/plan',
    'Read the plan. Shows its monthly and hourly limits, what is used, and when they reset. Only the operator of the deployment can change the plan.',
    { input: {}, output: record({ plan: PlanSchema }) },
    { scope: 'session' },
  ),
}
