import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { ItemStatusSchema } from '../records/growth/item.ts'
import { Id, nullable, record, Time } from '../shapes.ts'

const Entry = record(
  {
    at: Time,
    channel: T.String(),
    slot: nullable({
      ...Time,
      description: 'The slot of the cadence that it holds; null outside the cadence.',
    }),
    item: nullable(
      record(
        {
          id: Id,
          status: ItemStatusSchema,
          title: nullable(T.String()),
          excerpt: T.String({ description: 'The beginning of its text.' }),
          tags: T.Array(T.String()),
          url: nullable(T.String()),
        },
        { description: 'Null: nothing holds the slot.' },
      ),
    ),
  },
  { title: 'CalendarEntry' },
)

export const calendar = {
  get: op.query(
    'GET /api/v1/growth/calendar',
    "Read the calendar, soonest first: scheduled and posted items, and slots of the channels' cadences with what holds them. At most 62 days and 1,000 items.",
    {
      input: {
        from: { ...Time, description: 'Inclusive.' },
        to: { ...Time, description: 'Exclusive.' },
      },
      output: record({ entries: T.Array(Entry) }),
    },
  ),
}
