import { Type as T } from '@sinclair/typebox'
import { use, workers } from '../agent-fields.ts'
import { op } from '../op.ts'
import { Id, NOT_BLANK, record } from '../shapes.ts'

export const delegationCapabilities = {
  delegate: op.command(
    'POST /api/v1/actions/delegate',
    'Delegate a part of the work to a sub-agent. It has only the tools that you name; within a job you wait, and its answer is the result.',
    {
      input: {
        goal: T.String({
          minLength: 1,
          maxLength: 4_000,
          pattern: NOT_BLANK,
          description: 'All that it must know.',
          examples: ['Which of the posts of the last two weeks got the most replies, and why?'],
        }),
        tools: T.Array(T.String({ minLength: 1, maxLength: 64, examples: ['growth_list_queue'] }), {
          maxItems: 100,
          description: 'Of your own tools.',
        }),
        maxSteps: T.Optional(
          T.Integer({ minimum: 1, maximum: 40, description: 'Most calls of the model.' }),
        ),
      },
      output: record({ jobId: Id, status: T.String() }),
    },
    {
      ...use,
      ...workers,
      tool: 'delegate',
      agent: 'draft',
      delegates: true,
      errors: ['conflict', 'plan_invalid'],
    },
  ),
}
