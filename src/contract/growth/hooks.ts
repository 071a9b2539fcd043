import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { cursorLike, NextCursor, nullable, page, record } from '../shapes.ts'

/** Of names, not of ids. */

const Hook = record(
  {
    id: T.String({ description: 'The hook that items carry.' }),
    name: T.String(),
    explanation: T.String(),
    example: T.String(),
    drafted: T.Integer(),
    approved: T.Integer({ description: 'Whatever became of them since.' }),
    posted: T.Integer(),
    rejected: T.Integer(),
    measured: T.Integer({ description: 'Posts behind engagement_rate.' }),
    engagement_rate: nullable(T.Number({ description: 'Mean reactions per impression, 0 to 1; null below 5 measured posts.' })),
  },
  { title: 'Hook', description: 'A way to open a post, and what it has brought.' },
)

export const hooks = {
  list: op(
    'GET /api/v1/growth/hooks',
    'List hooks, the opening patterns. With how often each was drafted, approved, posted and rejected, and how its posts did. Drafting prefers those that did well and still tries others.',
    { input: { ...page, cursor: cursorLike('Y29sZC1vcGVu') }, output: record({ hooks: T.Array(Hook), next_cursor: NextCursor }) },
    { tool: 'growth_list_hooks' },
  ),
}
