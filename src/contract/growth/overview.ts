import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { nullable, record } from '../shapes.ts'
import { GrowthChannel } from './channels.ts'
import { Item } from './items.ts'
import { Learning } from './learnings.ts'
import { Profile } from './profile.ts'

export const overview = {
  get: op(
    'GET /api/v1/growth/overview',
    'Read the overview. Profile, channels, drafts that wait for approval and active learnings (the newest 25 of each) in one call.',
    {
      input: {},
      output: record({
        overview: record({
          profile: Profile,
          channels: T.Array(GrowthChannel),
          drafted: T.Array(Item),
          drafted_total: T.Integer({ description: 'How many drafts wait for approval in all.' }),
          drafted_next_cursor: nullable(
            T.String({ description: 'Reads on in the list of items with status=drafted; null when all are here.' }),
          ),
          learnings: T.Array(Learning),
          learnings_total: T.Integer({ description: 'How many learnings are active in all.' }),
          learnings_next_cursor: nullable(
            T.String({ description: 'Reads on in the list of learnings with status=active; null when all are here.' }),
          ),
        }),
      }),
    },
    { tool: 'growth_overview' },
  ),
}
