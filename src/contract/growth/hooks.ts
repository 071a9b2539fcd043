import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { cursorLike, NextCursor, nullable, page, record } from '../shapes.ts'

const Hook = record(
  {
    id: T.String({ description: 'The value of hook in items.' }),
    name: T.String(),
    explanation: T.String(),
    example: T.String(),
    drafted: T.Integer(),
    approved: T.Integer({ description: 'Approved at any time, whatever their state now.' }),
    posted: T.Integer(),
    rejected: T.Integer(),
    measured: T.Integer({ description: 'How many posts engagement_rate is based on.' }),
    engagement_rate: nullable(
      T.Number({
        description: 'Mean reactions per impression, 0 to 1; null below 5 measured posts.',
      }),
    ),
    measured_by_reactions: T.Integer({
      description:
        'How many posts reactions_per_post is based on: those whose network counts no impressions.',
    }),
    reactions_per_post: nullable(T.Number({ description: 'Their mean; null below 5 such posts.' })),
  },
  { title: 'Hook', description: 'A way to open a post, and how it performs.' },
)

export const hooks = {
  list: op.query(
    'GET /api/v1/growth/hooks',
    'List hooks, the opening patterns. Shows how often each was drafted, approved, posted and rejected, and how its posts performed. Drafting prefers hooks that perform well and still tries others.',
    {
      input: { ...page, cursor: cursorLike('Y29sZC1vcGVu') },
      output: record({ hooks: T.Array(Hook), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_hooks', agent: 'read' },
  ),
}
