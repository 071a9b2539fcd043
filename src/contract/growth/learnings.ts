import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import {
  LearningKind,
  learningKinds,
  learningRecord,
  learningStatuses,
} from '../records/growth/learning.ts'
import { Id, NextCursor, NOT_BLANK, oneOf, page, record, theText } from '../shapes.ts'

export const LearningSchema = learningRecord.schema
const OneLearning = record({ learning: LearningSchema })

export const learnings = {
  list: op.query(
    'GET /api/v1/growth/learnings',
    'List learnings, newest first, including retired ones. Filter by status or kind. Each draft lists the learnings it follows.',
    {
      input: {
        status: T.Optional(
          oneOf(learningStatuses, { description: 'Return only learnings in this state.' }),
        ),
        kind: T.Optional(
          oneOf(learningKinds, { description: 'Return only learnings of this kind.' }),
        ),
        ...page,
      },
      output: record({ learnings: T.Array(LearningSchema), next_cursor: NextCursor }),
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
        kind: LearningKind,
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
    {
      tool: 'growth_add_learning',
      agent: 'draft',
      foreign: true,
      status: 201,
      errors: ['conflict'],
      roles: ['editor'],
    },
  ),
  retire: op.command(
    'POST /api/v1/growth/learnings/:id/retire',
    'Retire a learning. It stays in the list, and guides no draft from the next batch on.',
    { input: { id: Id }, output: OneLearning },
    {
      tool: 'growth_retire_learning',
      agent: 'draft',
      foreign: true,
      errors: ['not_found', 'conflict'],
      roles: ['editor'],
    },
  ),
  remove: op.command(
    'DELETE /api/v1/growth/learnings/:id',
    'Delete a learning. It guides no draft from the next batch on; items that follow it keep its id.',
    { input: { id: Id }, output: OneLearning },
    { errors: ['not_found'], roles: ['editor'], destructive: true },
  ),
}
