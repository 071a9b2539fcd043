import { op } from '../op.ts'
import { record } from '../shapes.ts'
import { PlanSchema } from '../shared-records.ts'

export const growthPlan = {
  get: op.query(
    'GET /api/v1/growth/plan',
    'Read what the plan allows, what is used of it, and when that resets.',
    {
      input: {},
      output: record({ plan: PlanSchema }),
    },
  ),
}
