import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, NOT_BLANK, nullable, oneOf, page, record, Time } from '../shapes.ts'

const kinds = ['worked', 'flopped', 'hypothesis'] as const
const statuses = ['active', 'retired'] as const

const kind = oneOf(kinds, { description: 'worked: to be followed; flopped: to be avoided; hypothesis: to be tried.' })

export const Learning = record(
  {
    id: Id,
    kind,
    note: T.String(),
    status: oneOf(statuses, { description: 'retired: steers nothing any more.' }),
    audit_id: nullable(T.String({ format: 'uuid', description: 'The audit that found it; null when added by hand.' })),
    evidence: T.Array(Id, { description: 'Items that show it.' }),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Learning' },
)

const OneLearning = record({ learning: Learning })

export const learnings = {
  list: op(
    'GET /api/v1/growth/learnings',
    'List learnings, newest first, retired ones too; filter by status or kind. Each draft names by id those that it was made with.',
    {
      input: {
        status: T.Optional(oneOf(statuses, { description: 'Only those that still steer, or that do no more.' })),
        kind: T.Optional(oneOf(kinds, { description: 'Only learnings of this kind.' })),
        ...page,
      },
      output: record({ learnings: T.Array(Learning), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_learnings' },
  ),
  create: op(
    'POST /api/v1/growth/learnings',
    'Add a learning: what worked, what flopped, or a hypothesis. It steers every draft from the next batch on, until it is retired. At most 50 are active at once.',
    {
      input: {
        kind,
        note: T.String({
          minLength: 1,
          maxLength: 400,
          pattern: NOT_BLANK,
          description: 'A shape of post or a topic, in a sentence.',
          examples: ['Posts that open with a number get more replies'],
        }),
      },
      output: OneLearning,
    },
    { tool: 'growth_add_learning', status: 201, errors: ['conflict'], roles: ['editor'] },
  ),
  retire: op(
    'POST /api/v1/growth/learnings/:id/retire',
    'Retire a learning. It stays in the list, and steers no draft from the next batch on.',
    { input: { id: Id }, output: OneLearning },
    { tool: 'growth_retire_learning', errors: ['not_found', 'conflict'], roles: ['editor'] },
  ),
}
