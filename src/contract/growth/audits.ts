import { Type as T } from '@sinclair/typebox'
import { cancels, generationsPage } from '../generation.ts'
import { op } from '../op.ts'
import { auditResult, Compared, growthAuditRecord } from '../records/growth/growth-audit.ts'
import { Id, NextCursor, nullable, record, Time } from '../shapes.ts'

const count = T.Integer({ minimum: 0, maximum: 2_000_000_000 })

const WholeResult = record(
  {
    ...auditResult,
    compared: T.Array(Compared, {
      description:
        'Every comparison that was made, the strongest first, at most 500; empty in audits from before these were kept.',
    }),
  },
  { title: 'AuditResultWithComparisons' },
)

const Audit = growthAuditRecord.schema
const WholeAudit = record(
  { ...Audit.properties, result: nullable(WholeResult) },
  { title: 'AuditWithComparisons' },
)

const Given = T.Object(
  {
    item_id: T.Optional(Id),
    text: T.Optional(
      T.String({
        minLength: 1,
        maxLength: 5_000,
        description: 'The text of a post that is not an item.',
      }),
    ),
    impressions: T.Optional(
      nullable(count, { description: 'Null or absent: the network does not count them.' }),
    ),
    likes: count,
    replies: count,
    reposts: count,
    quotes: T.Optional(count),
    clicks: T.Optional(nullable(count)),
    posted_at: T.Optional(Time),
  },
  { additionalProperties: false },
)

export const audits = {
  create: op.command(
    'POST /api/v1/growth/audits',
    'Audit what worked and what flopped, from synced metrics or the ones you pass. Uses one audit of the monthly quota, returned if it fails. Reports when there is not enough data. Findings become learnings, which guide later drafts.',
    {
      input: {
        days: T.Optional(
          T.Integer({
            minimum: 1,
            maximum: 365,
            default: 30,
            description: 'How far back to look. Default 30.',
          }),
        ),
        metrics: T.Optional(
          T.Array(Given, {
            minItems: 1,
            maxItems: 200,
            description: 'Replaces synced metrics. Each entry has item_id or text.',
            examples: [
              [
                {
                  text: 'Eleven of fourteen delays start at the dock.',
                  impressions: 1_200,
                  likes: 40,
                  replies: 6,
                  reposts: 3,
                },
              ],
            ],
          }),
        ),
      },
      output: record({ audit: Audit }),
    },
    {
      tool: 'growth_create_audit',
      agent: 'draft',
      status: 201,
      errors: ['not_found'],
      feature: 'audits',
      quota: 'audits',
      cap: 'create_audit',
      roles: ['editor'],
      settles: 'get',
    },
  ),
  get: op.query(
    'GET /api/v1/growth/audits/:id',
    'Read an audit with its result, all comparisons that it made, and the learnings it added. While it is in flight, poll about every 20 seconds.',
    { input: { id: Id }, output: record({ audit: WholeAudit }) },
    { errors: ['not_found'] },
  ),
  list: op.query(
    'GET /api/v1/growth/audits',
    'List audits, newest first, each with its result and all comparisons that it made.',
    {
      input: generationsPage,
      output: record({ audits: T.Array(WholeAudit), next_cursor: NextCursor }),
    },
  ),
  cancel: op.command(
    'POST /api/v1/growth/audits/:id/cancel',
    'Cancel an audit that is queued or generating. It fails as cancelled, and returns to the quota. One that has settled stays as it is.',
    { input: { id: Id }, output: record({ audit: Audit }) },
    cancels,
  ),
}
