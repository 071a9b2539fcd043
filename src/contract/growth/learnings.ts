import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { called, Id, NextCursor, NOT_BLANK, nullable, oneOf, page, record, Time, theText, untrustedIf } from '../shapes.ts'

const kinds = ['worked', 'flopped', 'hypothesis'] as const
const statuses = ['active', 'retired'] as const

const kind = oneOf(kinds, { description: 'worked: follow it; flopped: avoid it; hypothesis: try it.' })

export const Learning = record(
  {
    id: Id,
    kind,
    note: untrustedIf({ field: 'untrusted' }, T.String()),
    untrusted: T.Boolean({ description: 'Added by a job that had read text of people outside the workspace.' }),
    status: oneOf(statuses, { description: 'retired: no longer guides drafts.' }),
    audit_id: nullable(T.String({ format: 'uuid', description: 'The audit that added it; null if added by hand.' })),
    evidence: called('item', T.Array(Id, { description: 'Items that support it.' })),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Learning' },
)

const OneLearning = record({ learning: Learning })

export const learnings = {
  list: op.query(
    'GET /api/v1/growth/learnings',
    'List learnings, newest first, including retired ones. Filter by status or kind. Each draft lists the learnings it follows.',
    {
      input: {
        status: T.Optional(oneOf(statuses, { description: 'Return only learnings in this state.' })),
        kind: T.Optional(oneOf(kinds, { description: 'Return only learnings of this kind.' })),
        ...page,
      },
      output: record({ learnings: T.Array(Learning), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_learnings', agent: 'read', foreign: true },
  ),
  get: op.query(
    'GET /api/v1/growth/learnings/:id',
    'Read one learning.',
    { input: { id: Id }, output: OneLearning },
    { errors: ['not_found'] },
  ),
  create: op.command(
    'POST /api/v1/growth/learnings',
    'Add a learning: what worked, what flopped, or a hypothesis. It guides every draft from the next batch on, until retired. At most 50 active.',
    {
      input: {
        kind,
        note: theText(
          T.String({
            minLength: 1,
            maxLength: 400,
            pattern: NOT_BLANK,
            description: 'A post format or a topic, in one sentence.',
            examples: ['Posts that open with a number get more replies'],
          }),
        ),
      },
      output: OneLearning,
    },
    { tool: 'growth_add_learning', agent: 'draft', foreign: true, status: 201, errors: ['conflict'], roles: ['editor'] },
  ),
  retire: op.command(
    'POST /api/v1/growth/learnings/:id/retire',
    'Retire a learning. It stays in the list, and guides no draft from the next batch on.',
    { input: { id: Id }, output: OneLearning },
    { tool: 'growth_retire_learning', agent: 'draft', foreign: true, errors: ['not_found', 'conflict'], roles: ['editor'] },
  ),
  remove: op.command(
    'DELETE /api/v1/growth/learnings/:id',
    'Delete a learning. It guides no draft from the next batch on; items that follow it keep its id.',
    { input: { id: Id }, output: OneLearning },
    { errors: ['not_found'], roles: ['editor'], destructive: true },
  ),
}
