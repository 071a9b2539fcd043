import { Type as T } from '@sinclair/typebox'
import { Item } from '../item-record.ts'
import { op } from '../op.ts'
import { called, nullable, record } from '../shapes.ts'
import { GrowthChannel } from './channels.ts'
import { Learning } from './learnings.ts'
import { Profile } from './profile.ts'

export const overview = {
  get: op.query(
    'GET /api/v1/growth/overview',
    'Read the overview: profile, channels, drafts awaiting approval and active learnings (the newest 25 of each).',
    {
      input: {},
      output: record({
        overview: record({
          profile: Profile,
          channels: T.Array(GrowthChannel),
          drafted: called('item', T.Array(Item)),
          drafted_total: T.Integer({ description: 'How many drafts await approval.' }),
          drafted_next_cursor: nullable(
            T.String({ description: 'Cursor for the list of items with status=drafted; null if all are here.' }),
          ),
          learnings: T.Array(Learning),
          learnings_total: T.Integer({ description: 'How many learnings are active.' }),
          learnings_next_cursor: nullable(
            T.String({ description: 'Cursor for the list of learnings with status=active; null if all are here.' }),
          ),
        }),
      }),
    },
    { tool: 'growth_overview', agent: 'read' },
  ),
}
