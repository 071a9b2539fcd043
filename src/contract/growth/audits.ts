import { Type as T } from '@sinclair/typebox'
import { cancels, GenerationStatus, generationsPage } from '../generation.ts'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, record, Time } from '../shapes.ts'

const kinds = ['worked', 'flopped', 'hypothesis'] as const
const count = T.Integer({ minimum: 0, maximum: 2_000_000_000 })
const Rate = T.Number({ minimum: 0, description: 'Reactions per impression.' })

const side = (description: string) => record({ n: T.Integer(), mean: T.Number() }, { description })

const compared = {
  dimension: T.String({
    description:
      'The feature compared: hook, format, length, weekday, hour, link, number, question, list, emoji, product or learning.',
  }),
  value: T.String(),
  measure: oneOf(['engagement_rate', 'impressions']),
  group: side('Posts with this value.'),
  rest: side('All other posts.'),
  effect_size: T.Number({ description: "Hedges' g." }),
  interval: record(
    { low: T.Number(), high: T.Number() },
    {
      description:
        'Confidence interval of the difference, relative to the other posts: 0.5 means 50% more.',
    },
  ),
}

const Claim = record(
  {
    ...compared,
    item_ids: T.Array(Id, { description: 'Items that support it.' }),
    wording: T.String(),
  },
  { title: 'AuditClaim' },
)

const Ranked = record(
  {
    item_id: nullable(Id),
    text: T.String(),
    impressions: T.Integer(),
    engagement_rate: nullable(Rate),
  },
  { title: 'AuditedPost' },
)

const Compared = record(compared, { title: 'AuditComparison' })

const result = {
  sample: record({
    items: T.Integer(),
    too_young: T.Integer({ description: 'Posts left out because they are less than a day old.' }),
    impressions: T.Integer(),
    reactions: T.Integer(),
    from: nullable(Time),
    to: nullable(Time),
    comparisons: T.Integer({
      description: 'How many comparisons were made; the intervals are corrected for that.',
    }),
  }),
  worked: T.Array(Claim),
  flopped: T.Array(Claim),
  hypotheses: T.Array(Claim, { description: 'Worth testing: the difference may be chance.' }),
  best: T.Array(Ranked),
  worst: T.Array(Ranked),
  not_enough_data: nullable(
    record({ items: T.Integer(), needed: T.Integer(), message: T.String() }),
  ),
  learnings: T.Array(record({ id: Id, kind: oneOf(kinds), note: T.String() }), {
    description: 'Learnings that the audit added.',
  }),
  not_added: T.Array(
    record({
      kind: oneOf(kinds),
      note: T.String(),
      reason: oneOf(['active_already', 'too_many_active']),
    }),
  ),
}
const Result = record(result, { title: 'AuditResult' })
const WholeResult = record(
  {
    ...result,
    compared: T.Array(Compared, {
      description:
        'Every comparison that was made, the strongest first, at most 500; empty in audits from before these were kept.',
    }),
  },
  { title: 'AuditResultWithComparisons' },
)

const fields = {
  id: Id,
  status: GenerationStatus,
  error: nullable(
    T.String({
      description:
        'Set when failed: generation_failed: <hint>, cancelled or enqueue_failed. While queued, plan_invalid:<reason> if it waits for billing.',
    }),
  ),
  days: T.Integer(),
  source: oneOf(['synced', 'given']),
  result: nullable(Result),
  model: nullable(
    T.String({ description: 'The model that wrote the wording. The numbers are computed.' }),
  ),
  usage: nullable(
    record({ input_tokens: T.Integer(), output_tokens: T.Integer(), cost_micros: T.Integer() }),
  ),
  created_at: Time,
  updated_at: Time,
}

const Audit = record(fields, { title: 'Audit' })
const WholeAudit = record(
  { ...fields, result: nullable(WholeResult) },
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
    impressions: count,
    likes: count,
    replies: count,
    reposts: count,
    quotes: T.Optional(count),
    clicks: T.Optional(count),
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
