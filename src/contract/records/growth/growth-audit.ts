/** An audit of what worked and what flopped. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, record, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'
import { generationError, generationStatus, writtenBy } from './generation.ts'
import { metricCounts } from './item.ts'
import { learningKinds } from './learning.ts'

const Rate = T.Number({ minimum: 0, description: 'Reactions per impression.' })

const side = (description: string) => record({ n: T.Integer(), mean: T.Number() }, { description })

const compared = {
  dimension: T.String({
    description:
      'The feature compared: hook, format, length, weekday, hour, link, number, question, list, emoji, product or learning.',
  }),
  value: T.String(),
  measure: oneOf(['engagement_rate', 'impressions', 'reactions'], {
    description: 'reactions: reactions per post, where the network counts no impressions.',
  }),
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
    impressions: nullable(T.Integer()),
    reactions: T.Optional(T.Integer({ description: 'Absent in older audits.' })),
    engagement_rate: nullable(Rate),
  },
  { title: 'AuditedPost' },
)

export const Compared = record(compared, { title: 'AuditComparison' })

export const auditResult = {
  sample: record({
    items: T.Integer(),
    too_young: T.Integer({ description: 'Posts left out because they are less than a day old.' }),
    impressions: nullable(T.Integer(), {
      description: 'Null if the network does not count them.',
    }),
    reactions: T.Integer(),
    from: nullable(Time),
    to: nullable(Time),
    comparisons: T.Integer({
      description: 'How many comparisons were made; the intervals are corrected for that.',
    }),
    note: T.Optional(
      T.String({
        description:
          'How posts are compared whose network counts no impressions. Absent if there are none.',
      }),
    ),
  }),
  worked: T.Array(Claim),
  flopped: T.Array(Claim),
  hypotheses: T.Array(Claim, { description: 'Worth testing: the difference may be chance.' }),
  best: T.Array(Ranked),
  worst: T.Array(Ranked),
  not_enough_data: nullable(
    record({ items: T.Integer(), needed: T.Integer(), message: T.String() }),
  ),
  learnings: T.Array(record({ id: Id, kind: oneOf(learningKinds), note: T.String() }), {
    description: 'Learnings that the audit added.',
  }),
  not_added: T.Array(
    record({
      kind: oneOf(learningKinds),
      note: T.String(),
      reason: oneOf(['active_already', 'too_many_active']),
    }),
  ),
}
const Result = record(auditResult, { title: 'AuditResult' })
/** Metrics of one post that the caller supplied. */
const Supplied = T.Object({
  item_id: nullable(T.String()),
  text: nullable(T.String()),
  posted_at: nullable(Time),
  ...metricCounts,
})

export const growthAuditRecord = declare(
  'growth_audit',
  { title: 'Audit' },
  {
    id,
    status: generationStatus,
    error: generationError,
    // How many days back, for synced metrics.
    days: { type: 'integer', shown: T.Integer(), fixed: true },
    source: { type: 'text', shown: oneOf(['synced', 'given']), fixed: true },
    given: {
      type: 'jsonb',
      of: T.Array(Supplied),
      null: true,
      hidden: 'the caller supplied it',
      fixed: true,
    },
    result: {
      type: 'jsonb',
      // Absent in audits from before comparisons were kept.
      of: T.Object({ ...auditResult, compared: T.Optional(T.Array(Compared)) }),
      shown: nullable(Result),
    },
    model: {
      type: 'text',
      shown: nullable(
        T.String({ description: 'The model that wrote the wording. The numbers are computed.' }),
      ),
    },
    usage: writtenBy.usage,
    ...times,
  },
)
