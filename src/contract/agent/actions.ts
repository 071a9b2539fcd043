import { Type as T } from '@sinclair/typebox'
import { everybody, use } from '../agent-fields.ts'
import { op } from '../op.ts'
import { record } from '../shapes.ts'
import { JobSchema } from './jobs.ts'

export const actions = {
  call: op.awaited(
    'POST /api/v1/actions/:name',
    "Call a capability of the agent by its name. The body is its arguments. What needs a person's approval answers 409 with the approval, and is done once a person allows it: the same Idempotency-Key then finds the result.",
    {
      input: {
        name: T.String({
          minLength: 1,
          description: 'The name of a capability, such as get_current_time.',
          examples: ['get_current_time'],
        }),
        arguments: T.Record(T.String(), T.Unknown(), {
          description: 'The arguments of the capability.',
          examples: [{ timeZone: 'Europe/Berlin' }],
        }),
      },
      output: record({
        result: T.Unknown({
          description: 'What the capability answers; null while it is not done.',
        }),
        job: T.Optional(JobSchema),
      }),
    },
    {
      ...use,
      ...everybody,
      body: 'arguments',
      secret: true,
      errors: ['not_found', 'approval_required', 'capability_failed', 'plan_invalid'],
    },
  ),
}
