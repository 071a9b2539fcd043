import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, NOT_BLANK, nullable, oneOf, page, record, Time } from '../shapes.ts'

const metrics = ['engagement_rate', 'impressions', 'likes', 'replies', 'reposts', 'clicks'] as const
const statuses = ['running', 'concluded'] as const

const text = (maxLength: number, description: string, example: string) =>
  T.String({ minLength: 1, maxLength, pattern: NOT_BLANK, description, examples: [example] })

const Arm = record(
  {
    name: T.String(),
    note: nullable(T.String({ description: 'What its drafts are told to do; null: drafted as ever.' })),
    items: T.Integer(),
    posted: T.Integer(),
    measured: T.Integer({ description: 'Posted, with numbers: what n will be.' }),
  },
  { title: 'Arm' },
)

const ArmResult = record(
  {
    arm: T.String(),
    n: T.Integer(),
    mean: nullable(T.Number()),
    sd: nullable(T.Number({ description: 'Of the sample.' })),
    item_ids: T.Array(Id, { description: 'The evidence: the newest 100.' }),
  },
  { title: 'ArmResult' },
)

const Difference = record(
  {
    arm: T.String(),
    reading: oneOf(['higher', 'lower', 'unclear', 'not_enough_data']),
    difference: nullable(T.Number({ description: 'Mean of the arm less mean of the control.' })),
    interval: nullable(record({ low: T.Number(), high: T.Number() }, { description: "95 %, by Welch's t." })),
    effect_size: nullable(T.Number({ description: "Hedges' g." })),
    needed_per_arm: nullable(T.Integer({ description: 'Posts with numbers that each arm would need to tell.' })),
    note: T.String({ description: 'The same in a sentence.' }),
  },
  { title: 'ArmDifference' },
)

const Comparison = record(
  { arms: T.Array(ArmResult), against_control: T.Array(Difference) },
  { title: 'Comparison', description: 'What the numbers said when it was concluded.' },
)

const Experiment = record(
  {
    id: Id,
    name: T.String(),
    hypothesis: T.String(),
    metric: oneOf(metrics),
    status: oneOf(statuses),
    arms: T.Array(Arm, { description: 'The first one is the control.' }),
    ready_to_conclude: T.Boolean({ description: 'Running, with 8 measured posts or more in every arm.' }),
    result: nullable(T.String({ description: "The person's verdict." })),
    comparison: nullable(Comparison),
    concluded_at: nullable(Time),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Experiment' },
)

const OneExperiment = record({ experiment: Experiment })

export const experiments = {
  list: op(
    'GET /api/v1/growth/experiments',
    'List experiments, newest first, with the count of posts in each arm; filter by status.',
    {
      input: { status: T.Optional(oneOf(statuses, { description: 'Only those in this state.' })), ...page },
      output: record({ experiments: T.Array(Experiment), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_experiments' },
  ),
  create: op(
    'POST /api/v1/growth/experiments',
    "Create an experiment. Draft batches with its experiment_id: their posts are divided evenly over the arms, each arm's drafted by its note. At most 20 run at once.",
    {
      input: {
        name: text(120, 'What to call it.', 'Open with a number'),
        hypothesis: text(
          1_000,
          'What you expect; without arms, what the variant is told to do.',
          'Posts that open with a number get more replies',
        ),
        metric: T.Optional(oneOf(metrics, { description: 'What is compared; engagement_rate when absent.' })),
        arms: T.Optional(
          T.Array(
            T.Object(
              {
                name: text(40, 'Its own.', 'control'),
                note: T.Optional(T.String({ maxLength: 1_000, description: 'What its drafts are told to do.' })),
              },
              { additionalProperties: false },
            ),
            {
              minItems: 2,
              maxItems: 4,
              description: 'The first one is the control. When absent: control without a note, and variant.',
              examples: [[{ name: 'control' }, { name: 'variant', note: 'Open with a number' }]],
            },
          ),
        ),
      },
      output: OneExperiment,
    },
    { tool: 'growth_create_experiment', status: 201, feature: 'experiments', errors: ['conflict'], roles: ['editor'] },
  ),
  conclude: op(
    'POST /api/v1/growth/experiments/:id/conclude',
    'Conclude an experiment with your verdict, for good. Mean, difference, interval and effect size of each arm are computed and kept beside it, or that there is not enough data.',
    { input: { id: Id, result: text(2_000, 'Your verdict.', 'Supported: numbers first from now on') }, output: OneExperiment },
    { tool: 'growth_conclude_experiment', feature: 'experiments', errors: ['not_found', 'conflict'], roles: ['editor'] },
  ),
}
