/** A report on a week, Monday to Sunday in the workspace's time zone. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, record, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'
import { generationStatus, ModelUsageSchema } from './generation.ts'

const uncounted = { description: 'Null if the network does not count them.' }
/** For a day or a week: the posts that went out, and what all posts gained. */
const figures = {
  posts: T.Integer(),
  impressions: nullable(T.Integer(), uncounted),
  reactions: T.Integer(),
  clicks: nullable(T.Integer(), uncounted),
}
const Rate = nullable(T.Number({ description: 'Reactions per impression.' }))
const PerPost = T.Optional(
  nullable(
    T.Number({
      description:
        'Reactions for each post that went out. Only where the network counts no impressions.',
    }),
  ),
)
const Totals = record(
  { ...figures, engagement_rate: Rate, reactions_per_post: PerPost },
  { title: 'ReportTotals' },
)
const Change = nullable(T.Number())

const ReportItem = record(
  {
    item_id: Id,
    text: T.String(),
    url: nullable(T.String()),
    impressions: nullable(T.Integer(), uncounted),
    reactions: T.Optional(T.Integer({ description: 'Absent in older reports.' })),
    engagement_rate: Rate,
  },
  { title: 'ReportItem' },
)

const Data = record(
  {
    from: Time,
    to: Time,
    complete: T.Boolean({ description: 'False while the week is not over.' }),
    note: T.Optional(
      T.String({
        description:
          'What the numbers leave out, and how posts are compared, where not all networks count the same. They are those of accounts that are counted as the default one or, without one, as most posts.',
      }),
    ),
    totals: Totals,
    before: Totals,
    change: record(
      {
        posts: Change,
        impressions: Change,
        reactions: Change,
        clicks: Change,
        engagement_rate: Change,
        reactions_per_post: T.Optional(Change),
      },
      {
        description: 'Change from the week before: 0.5 means 50% more; null if that week had none.',
      },
    ),
    days: T.Array(record({ day: T.String(), ...figures }, { title: 'ReportDay' })),
    best: nullable(ReportItem),
    worst: nullable(ReportItem),
    waiting: record({ approvals: T.Integer(), scheduled: T.Integer(), unconfirmed: T.Integer() }),
    quotas: T.Array(record({ key: T.String(), used: T.Integer(), limit: T.Integer() })),
    reads: record(
      { tier: T.String(), used: T.Integer(), limit: T.Integer() },
      { description: 'Used today, in the unit of the tier.' },
    ),
    next: T.Array(record({ title: T.String(), why: T.String(), operation: T.String() })),
  },
  { title: 'ReportData', description: 'What posts gained counts on the day it was read.' },
)

const NO_MODEL = 'no model writes reports'

export const reportRecord = declare(
  'report',
  { title: 'Report' },
  {
    id,
    status: generationStatus,
    error: {
      type: 'text',
      shown: nullable(
        T.String({
          description:
            'Set when failed: an error code; for a skipped weekly report, why the plan refused it.',
        }),
      ),
    },
    origin: {
      type: 'text',
      shown: oneOf(['manual', 'automatic'], {
        description: 'automatic: created by the schedule, on Monday at 07:00.',
      }),
      fixed: true,
    },
    week: {
      type: 'text',
      shown: T.String({ description: 'The Monday on which the week starts.' }),
      fixed: true,
    },
    time_zone: { type: 'text', shown: T.String(), fixed: true },
    data: { type: 'jsonb', shown: nullable(Data) },
    markdown: {
      type: 'text',
      shown: nullable(T.String({ description: 'The report as Markdown.' })),
    },
    model: { type: 'text', null: true, hidden: NO_MODEL, fixed: true },
    usage: { type: 'jsonb', of: ModelUsageSchema, null: true, hidden: NO_MODEL, fixed: true },
    ...times,
  },
)
