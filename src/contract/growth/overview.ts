import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { record } from '../shapes.ts'
import { GrowthChannel } from './channels.ts'
import { Item } from './items.ts'
import { Learning } from './learnings.ts'
import { Profile } from './profile.ts'

export const overview = {
  get: op(
    'GET /api/v1/growth/overview',
    'Read the overview. Profile, channels, the newest drafts that wait for approval, and active learnings in one call.',
    {
      input: {},
      output: record({
        overview: record({ profile: Profile, channels: T.Array(GrowthChannel), drafted: T.Array(Item), learnings: T.Array(Learning) }),
      }),
    },
    { tool: 'growth_overview' },
  ),
}
