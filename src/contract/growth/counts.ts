import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { engagementStatuses } from '../records/growth/engagement.ts'
import { itemStatuses } from '../records/growth/item.ts'
import { record } from '../shapes.ts'

const count = T.Integer({ minimum: 0, maximum: 10_000 })
const each = (names: readonly string[]) =>
  record(Object.fromEntries(names.map((name) => [name, count])))

const Counts = record(
  {
    items: each([...itemStatuses, 'scheduled']),
    engagements: each(engagementStatuses),
    review: record(
      { items: count, engagements: count },
      { description: 'In doubt, where a person must check.' },
    ),
    signals: T.Integer({ minimum: 0, maximum: 10_000, description: 'Open ones.' }),
    due_24h: T.Integer({
      minimum: 0,
      maximum: 10_000,
      description: 'Items scheduled for the next 24 hours, and those overdue.',
    }),
  },
  {
    title: 'StateCounts',
    description:
      'Each number ends at 10,000, which means that many or more. approved includes scheduled.',
  },
)

export const counts = {
  get: op.query(
    'GET /api/v1/growth/counts',
    'Count items and engagements by state, what a person must check, open signals, and what is due soon.',
    {
      input: {},
      output: record({ counts: Counts }),
    },
  ),
}
