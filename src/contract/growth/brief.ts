import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, nullable, oneOf, record, Time, untrusted } from '../shapes.ts'

const BriefRow = record(
  {
    id: nullable(Id),
    type: oneOf(['post', 'article', 'engagement', 'signal', 'experiment', 'slot']),
    title: untrusted(T.String({ description: "Its name, or the beginning of its text: of a signal, somebody else's." })),
    status: T.String(),
    at: nullable(Time),
  },
  { title: 'BriefRow', description: 'A record that an action is about. A free slot has no id.' },
)

const Action = record(
  {
    kind: T.String({ description: 'approve_posts, fill_slots and so on; each at most once.' }),
    title: T.String(),
    why: T.String(),
    score: T.Integer({ description: 'Higher is more urgent; the list is in this order.' }),
    count: T.Integer({ description: 'How many records it is about.' }),
    operation: T.String({ description: 'The operation to call.' }),
    tool: nullable(T.String({ description: 'Its MCP tool; null: a person does it in the app.' })),
    arguments: T.Record(T.String(), T.Unknown(), { description: 'For the first of the records, as far as they are known.' }),
    items: T.Optional(T.Array(BriefRow, { description: 'With include=items: the first 10 records.' })),
  },
  { title: 'BriefAction' },
)

export const brief = {
  get: op(
    'GET /api/v1/growth/brief',
    'Read the daily brief. What to do next, most urgent first, each with why and the operation to call. It only advises: nothing is done.',
    {
      input: { include: T.Optional(oneOf(['items'], { description: "Adds each action's records." })) },
      output: record({ brief: record({ actions: T.Array(Action) }, { title: 'Brief' }) }),
    },
    { tool: 'growth_get_brief' },
  ),
}
