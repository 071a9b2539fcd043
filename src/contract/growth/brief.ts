import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { called, Id, nullable, oneOf, record, Time, untrusted } from '../shapes.ts'

const BriefRow = record(
  {
    id: nullable(Id),
    type: oneOf(['post', 'article', 'engagement', 'signal', 'experiment', 'slot']),
    title: untrusted(T.String({ description: 'The name, or the start of the text. For a signal, other people wrote the text.' })),
    status: T.String(),
    at: nullable(Time),
  },
  { title: 'BriefRow', description: 'A record that an action concerns. A free slot has no id.' },
)

const Action = record(
  {
    kind: T.String({ description: 'For example approve_posts or fill_slots; each appears at most once.' }),
    title: T.String(),
    why: T.String(),
    score: T.Integer({ description: 'Higher is more urgent. The list is sorted by score.' }),
    count: T.Integer({ description: 'How many records the action concerns.' }),
    operation: T.String({ description: 'The operation to call: one that you may call. For what only others may do, it reads the record.' }),
    tool: nullable(T.String({ description: 'The MCP tool to call; null when a person must do it.' })),
    arguments: T.Record(T.String(), T.Unknown(), { description: 'Known arguments for the first record.' }),
    items: T.Optional(
      T.Array(called({ by: 'type', as: { post: 'item', article: 'item' } }, BriefRow), {
        description: 'The first 10 records, with include=items.',
      }),
    ),
  },
  { title: 'BriefAction' },
)

export const brief = {
  get: op.query(
    'GET /api/v1/growth/brief',
    'Read the daily brief. Lists what to do next, most urgent first, each with a reason and the operation to call. Changes nothing.',
    {
      input: { include: T.Optional(oneOf(['items'], { description: 'Include the records of each action.' })) },
      output: record({ brief: record({ actions: T.Array(Action) }, { title: 'Brief' }) }),
    },
    { tool: 'growth_get_brief', agent: 'read', foreign: true },
  ),
}
