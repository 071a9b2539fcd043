import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { growthChannelRecord } from '../records/growth/growth-channel.ts'
import { ItemSchema } from '../records/growth/item.ts'
import { Id, nameForModels, nullable, record, Time } from '../shapes.ts'
import { LearningSchema } from './learnings.ts'
import { ProfileSchema } from './profile.ts'

const count = T.Integer()

const Counts = record(
  {
    drafted: count,
    approved: count,
    scheduled: count,
    publishing: count,
    posted: count,
    rejected: count,
    publish_failed: count,
    publish_unconfirmed: count,
    review: count,
    engagements: count,
    signals: count,
    due_in_24h: count,
  },
  {
    title: 'Counts',
    description:
      'Each up to 10,000. approved includes scheduled, publish_unconfirmed includes review; engagements await approval, signals are open.',
  },
)

export const overview = {
  get: op.query(
    'GET /api/v1/growth/overview',
    'Read the overview: counts, what is due next, quotas left, profile, channels, drafts awaiting approval and active learnings (the newest 25 of each).',
    {
      input: {},
      output: record({
        overview: record({
          profile: ProfileSchema,
          channels: T.Array(growthChannelRecord.schema),
          drafted: nameForModels('item', T.Array(ItemSchema)),
          drafted_total: T.Integer({ description: 'How many drafts await approval.' }),
          drafted_next_cursor: nullable(
            T.String({
              description:
                'Cursor for the list of items with status=drafted; null if all are here.',
            }),
          ),
          learnings: T.Array(LearningSchema),
          learnings_total: T.Integer({ description: 'How many learnings are active.' }),
          learnings_next_cursor: nullable(
            T.String({
              description:
                'Cursor for the list of learnings with status=active; null if all are here.',
            }),
          ),
          counts: Counts,
          paused: T.Boolean({ description: 'All automation is paused.' }),
          held: T.Boolean({ description: 'The operator holds the whole deployment.' }),
          paused_everywhere: T.Boolean({
            description: 'The operator has paused every workspace.',
          }),
          drafter: T.String({
            description: 'What writes drafts: the name of a model, or composer.',
          }),
          quotas: T.Array(record({ key: T.String(), left: count, limit: count, resets_at: Time }), {
            description: 'Monthly quotas.',
          }),
          next_due: nameForModels(
            'item',
            T.Array(record({ id: Id, title: T.String(), post_at: Time }), {
              description: 'The next 3 scheduled items.',
            }),
          ),
        }),
      }),
    },
    { tool: 'growth_overview', agent: 'read', foreign: true },
  ),
}
