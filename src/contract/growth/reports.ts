import { Type as T } from '@sinclair/typebox'
import { cancels, GenerationStatus, generationsPage } from '../generation.ts'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, record, Time } from '../shapes.ts'

const figures = {
  posts: T.Integer(),
  impressions: T.Integer(),
  reactions: T.Integer(),
  clicks: T.Integer(),
}
const Rate = nullable(T.Number({ description: 'Reactions per impression.' }))
const Totals = record({ ...figures, engagement_rate: Rate }, { title: 'ReportTotals' })
const Change = nullable(T.Number())

const ReportItem = record(
  {
    item_id: Id,
    text: T.String(),
    url: nullable(T.String()),
    impressions: T.Integer(),
    engagement_rate: Rate,
  },
  { title: 'ReportItem' },
)

const Data = record(
  {
    from: Time,
    to: Time,
    complete: T.Boolean({ description: 'False while the week is not over.' }),
    totals: Totals,
    before: Totals,
    change: record(
      {
        posts: Change,
        impressions: Change,
        reactions: Change,
        clicks: Change,
        engagement_rate: Change,
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

const Report = record(
  {
    id: Id,
    status: GenerationStatus,
    error: nullable(
      T.String({
        description:
          'Set when failed: an error code; for a skipped weekly report, why the plan refused it.',
      }),
    ),
    origin: oneOf(['manual', 'automatic'], {
      description: 'automatic: created by the schedule, on Monday at 07:00.',
    }),
    week: T.String({ description: 'The Monday on which the week starts.' }),
    time_zone: T.String(),
    data: nullable(Data),
    markdown: nullable(T.String({ description: 'The report as Markdown.' })),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Report' },
)

export const reports = {
  list: op.query(
    'GET /api/v1/growth/reports',
    "List weekly reports, newest first, as data and Markdown. Created every Monday at 07:00 in the profile's time zone.",
    {
      input: generationsPage,
      output: record({ reports: T.Array(Report), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_reports', agent: 'read' },
  ),
  create: op.command(
    'POST /api/v1/growth/reports',
    'Report on the current week, or another. Uses one report of the monthly quota, returned if it fails. List the reports until ready or failed.',
    {
      input: {
        week: T.Optional(
          T.String({
            pattern: '^\\d{4}-\\d{2}-\\d{2}$',
            description: 'Any day of the week, such as 2026-11-16. Default this week.',
            examples: ['2026-06-15'],
          }),
        ),
      },
      output: record({ report: Report }),
    },
    {
      ...{
        tool: 'growth_create_report',
        agent: 'draft',
        status: 201,
        feature: 'reports',
        quota: 'reports',
        cap: 'create_report',
        roles: ['editor'],
      },
      settles: 'list',
    },
  ),
  get: op.query(
    'GET /api/v1/growth/reports/:id',
    'Read a report, as data and Markdown. While it is in flight, poll about every 20 seconds.',
    { input: { id: Id }, output: record({ report: Report }) },
    { errors: ['not_found'] },
  ),
  cancel: op.command(
    'POST /api/v1/growth/reports/:id/cancel',
    'Cancel a report that is queued or generating. It fails as cancelled, and returns to the quota. One that has settled stays as it is.',
    { input: { id: Id }, output: record({ report: Report }) },
    cancels,
  ),
}
