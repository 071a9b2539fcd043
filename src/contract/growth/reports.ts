import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, page, record, Time } from '../shapes.ts'

const figures = { posts: T.Integer(), impressions: T.Integer(), reactions: T.Integer(), clicks: T.Integer() }
const Rate = nullable(T.Number({ description: 'Reactions per impression.' }))
const Totals = record({ ...figures, engagement_rate: Rate }, { title: 'ReportTotals' })
const Change = nullable(T.Number())

const ReportItem = record(
  { item_id: Id, text: T.String(), url: nullable(T.String()), impressions: T.Integer(), engagement_rate: Rate },
  { title: 'ReportItem' },
)

const Data = record(
  {
    from: Time,
    to: Time,
    complete: T.Boolean({ description: 'False: the week is not over.' }),
    totals: Totals,
    before: Totals,
    change: record(
      { posts: Change, impressions: Change, reactions: Change, clicks: Change, engagement_rate: Change },
      { description: 'As a share of the week before: 0.5 is half as much again; null where that had nothing.' },
    ),
    days: T.Array(record({ day: T.String(), ...figures }, { title: 'ReportDay' })),
    best: nullable(ReportItem),
    worst: nullable(ReportItem),
    waiting: record({ approvals: T.Integer(), scheduled: T.Integer(), unconfirmed: T.Integer() }),
    quotas: T.Array(record({ key: T.String(), used: T.Integer(), limit: T.Integer() })),
    reads: record({ tier: T.String(), used: T.Integer(), limit: T.Integer() }, { description: "Of the day, in the tier's unit." }),
    next: T.Array(record({ title: T.String(), why: T.String(), operation: T.String() })),
  },
  { title: 'ReportData', description: 'What all posts gained counts on the day it was read.', 'x-named': true },
)

const Report = record(
  {
    id: Id,
    status: oneOf(['queued', 'generating', 'ready', 'failed']),
    error: nullable(T.String({ description: 'With failed: a code; of a weekly one that was skipped, why the plan refused it.' })),
    origin: oneOf(['manual', 'automatic'], { description: 'automatic: made by itself on Monday at 07:00.' }),
    week: T.String({ description: 'The Monday that it begins on.' }),
    time_zone: T.String(),
    data: nullable(Data),
    markdown: nullable(T.String({ description: 'The same for people.' })),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Report' },
)

export const reports = {
  list: op(
    'GET /api/v1/growth/reports',
    'List reports on weeks, newest first, each with its numbers and as Markdown. One is made every Monday at 07:00 by the clocks of the profile.',
    { input: page, output: record({ reports: T.Array(Report), next_cursor: NextCursor }) },
    { tool: 'growth_list_reports' },
  ),
  create: op(
    'POST /api/v1/growth/reports',
    'Report on the current week, or a given one. Takes one report from the quota of the month, given back should it fail. Answers at once; list the reports until it is ready or failed.',
    {
      input: {
        week: T.Optional(
          T.String({
            pattern: '^\\d{4}-\\d{2}-\\d{2}$',
            description: 'Any day of the week, as 2026-11-16; the current week when absent.',
            examples: ['2026-06-15'],
          }),
        ),
      },
      output: record({ report: Report }),
    },
    {
      ...{ tool: 'growth_create_report', status: 201, feature: 'reports', quota: 'reports', cap: 'create_report', roles: ['editor'] },
      settles: 'list',
    },
  ),
}
