import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, oneOf, record, Time } from '../shapes.ts'
import { Item } from './items.ts'
import { Learning } from './learnings.ts'
import { Profile } from './profile.ts'

const GrowthChannel = record(
  {
    id: Id,
    name: T.String(),
    status: oneOf(['active', 'inactive']),
    format_rules: T.Record(T.String(), T.Unknown()),
    cadence: T.Record(T.String(), T.Unknown()),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'GrowthChannel', description: 'Where and how often to post.' },
)

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
