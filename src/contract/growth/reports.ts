import { Type as T } from '@sinclair/typebox'
import { cancels, generationsPage } from '../generation.ts'
import { op } from '../op.ts'
import { reportRecord } from '../records/growth/report.ts'
import { Id, NextCursor, record } from '../shapes.ts'

const Report = reportRecord.schema

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
      tool: 'growth_create_report',
      agent: 'draft',
      status: 201,
      feature: 'reports',
      quota: 'reports',
      cap: 'create_report',
      roles: ['editor'],
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
