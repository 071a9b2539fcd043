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
    note: nullable(
      T.String({ description: 'The instruction for drafts of this arm; null for none.' }),
    ),
    items: T.Integer(),
    posted: T.Integer(),
    measured: T.Integer({ description: 'Posts with metrics; n in the statistics.' }),
  },
  { title: 'Arm' },
)

const ArmResult = record(
  {
    arm: T.String(),
    n: T.Integer(),
    mean: nullable(T.Number()),
    sd: nullable(T.Number({ description: 'Standard deviation of the sample.' })),
    item_ids: T.Array(Id, { description: 'The newest 100 items of the sample.' }),
  },
  { title: 'ArmResult' },
)

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
    needed_per_arm: nullable(T.Integer({ description: 'Posts with metrics that each arm needs.' })),
    note: T.String({ description: 'The same, in a sentence.' }),
  },
  { title: 'ArmDifference' },
)

const Comparison = record(
  { arms: T.Array(ArmResult), against_control: T.Array(Difference) },
  { title: 'Comparison', description: 'The statistics when the experiment was concluded.' },
)

const Experiment = record(
  {
    id: Id,
    name: T.String(),
    hypothesis: T.String(),
    metric: oneOf(metrics),
    status: oneOf(statuses),
    arms: T.Array(Arm, { description: 'The first one is the control.' }),
    ready_to_conclude: T.Boolean({
      description: 'True while running with at least 8 measured posts in every arm.',
    }),
    result: nullable(T.String({ description: 'Your verdict.' })),
    comparison: nullable(Comparison),
    concluded_at: nullable(Time),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Experiment' },
)

const OneExperiment = record({ experiment: Experiment })

export const experiments = {
  list: op.query(
    'GET /api/v1/growth/experiments',
    'List experiments, newest first, with the number of posts in each arm. Filter by status.',
    {
      input: {
        status: T.Optional(
          oneOf(statuses, { description: 'Return only experiments in this state.' }),
        ),
        ...page,
      },
      output: record({ experiments: T.Array(Experiment), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_experiments', agent: 'read' },
  ),
  get: op.query(
    'GET /api/v1/growth/experiments/:id',
    'Read one experiment, with the number of posts in each arm.',
    { input: { id: Id }, output: OneExperiment },
    { errors: ['not_found'] },
  ),
  create: op.command(
    'POST /api/v1/growth/experiments',
    'Create an experiment. Batches with its experiment_id divide their posts evenly among the arms; each arm drafts by its note. At most 20 running.',
    {
      input: {
        name: text(120, 'A name for it.', 'Open with a number'),
        hypothesis: text(
          1_000,
          'What you expect. Without arms, also the note of the variant.',
          'Posts that open with a number get more replies',
        ),
        metric: T.Optional(
          oneOf(metrics, { description: 'What to compare. Default engagement_rate.' }),
        ),
        arms: T.Optional(
          T.Array(
            T.Object(
              {
                name: text(40, 'Unique among the arms.', 'control'),
                note: T.Optional(
                  T.String({ maxLength: 1_000, description: 'The instruction for its drafts.' }),
                ),
              },
              { additionalProperties: false },
            ),
            {
              minItems: 2,
              maxItems: 4,
              description:
                'The first is the control. Default: control, without a note, and variant.',
              examples: [[{ name: 'control' }, { name: 'variant', note: 'Open with a number' }]],
            },
          ),
        ),
      },
      output: OneExperiment,
    },
    {
      tool: 'growth_create_experiment',
      agent: 'draft',
      status: 201,
      feature: 'experiments',
      errors: ['conflict'],
      roles: ['editor'],
    },
  ),
  conclude: op.command(
    'POST /api/v1/growth/experiments/:id/conclude',
    'Conclude an experiment with your verdict. This is final. Stores the mean, difference, interval and effect size of each arm, or that there is not enough data.',
    {
      input: {
        id: Id,
        result: text(2_000, 'Your verdict.', 'Supported: numbers first from now on'),
      },
      output: OneExperiment,
    },
    {
      tool: 'growth_conclude_experiment',
      agent: 'commit',
      feature: 'experiments',
      errors: ['not_found', 'conflict'],
      roles: ['editor'],
    },
  ),
}
