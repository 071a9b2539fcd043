/** Ways of writing that are compared with each other. */
import { Type as T } from '@sinclair/typebox'
import { Id, nullable, oneOf, record, Time } from '../../shapes.ts'
import { id, times } from '../fields.ts'
import { declare } from '../record.ts'

export const experimentMetrics = [
  'engagement_rate',
  'impressions',
  'likes',
  'replies',
  'reposts',
  'clicks',
  'reactions',
] as const
export const experimentStatuses = ['running', 'concluded'] as const

const arm = {
  name: T.String(),
  note: nullable(
    T.String({ description: 'The instruction for drafts of this arm; null for none.' }),
  ),
}

const counts = {
  items: T.Integer(),
  posted: T.Integer(),
  measured: T.Integer({ description: 'Posts with metrics; n in the statistics.' }),
}

const ArmResult = record(
  {
    arm: T.String(),
    n: T.Integer(),
    // Null if there are no values.
    mean: nullable(T.Number()),
    // Null if there are fewer than two values.
    sd: nullable(T.Number({ description: 'Standard deviation of the sample.' })),
    item_ids: T.Array(Id, { description: 'The newest 100 items of the sample.' }),
  },
  { title: 'ArmResult' },
)

/** Numbers are null if there is not enough data, or if nothing varies. */
const Difference = record(
  {
    arm: T.String(),
    reading: oneOf(['higher', 'lower', 'unclear', 'not_enough_data']),
    difference: nullable(T.Number({ description: 'Mean of the arm minus mean of the control.' })),
    interval: nullable(
      record(
        { low: T.Number(), high: T.Number() },
        { description: "95% confidence interval, by Welch's t-test." },
      ),
    ),
    effect_size: nullable(T.Number({ description: "Hedges' g." })),
    // How many would make the result significant. Null if it already is, or if no number would do.
    needed_per_arm: nullable(T.Integer({ description: 'Posts with metrics that each arm needs.' })),
    note: T.String({ description: 'The same, in a sentence.' }),
  },
  { title: 'ArmDifference' },
)

const Comparison = record(
  {
    arms: T.Array(ArmResult),
    against_control: T.Array(Difference),
    note: T.Optional(
      T.String({ description: 'Which posts are left out, and why. Absent if none are.' }),
    ),
  },
  { title: 'Comparison', description: 'The statistics when the experiment was concluded.' },
)

export const experimentRecord = declare(
  'experiment',
  { title: 'Experiment' },
  {
    id,
    name: { type: 'text', shown: T.String(), fixed: true },
    hypothesis: { type: 'text', shown: T.String(), fixed: true },
    metric: { type: 'text', shown: oneOf(experimentMetrics), fixed: true },
    status: { type: 'text', shown: oneOf(experimentStatuses) },
    arms: {
      type: 'jsonb',
      of: T.Array(T.Object(arm)),
      shown: T.Array(record({ ...arm, ...counts }, { title: 'Arm' }), {
        description: 'The first one is the control.',
      }),
      fixed: true,
    },
    // Current, or as of the conclusion.
    tally: {
      type: 'jsonb',
      of: T.Array(T.Object({ arm: T.String(), ...counts })),
      null: true,
      hidden: 'shown with the arms',
      from: 'query',
    },
    ready_to_conclude: {
      shown: T.Boolean({
        description: 'True while running with at least 8 measured posts in every arm.',
      }),
      from: 'view',
    },
    result: { type: 'text', shown: nullable(T.String({ description: 'Your verdict.' })) },
    comparison: { type: 'jsonb', shown: nullable(Comparison) },
    concluded_at: { type: 'timestamp with time zone', shown: nullable(Time) },
    ...times,
  },
)
