import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import {
  experimentMetrics,
  experimentRecord,
  experimentStatuses,
} from '../records/growth/experiment.ts'
import { Id, NextCursor, NOT_BLANK, oneOf, page, record } from '../shapes.ts'

const text = (maxLength: number, description: string, example: string) =>
  T.String({ minLength: 1, maxLength, pattern: NOT_BLANK, description, examples: [example] })

const Experiment = experimentRecord.schema
const OneExperiment = record({ experiment: Experiment })

export const experiments = {
  list: op.query(
    'GET /api/v1/growth/experiments',
    'List experiments, newest first, with the number of posts in each arm. Filter by status.',
    {
      input: {
        status: T.Optional(
          oneOf(experimentStatuses, { description: 'Return only experiments in this state.' }),
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
          oneOf(experimentMetrics, {
            description:
              'What to compare; it must be counted by the network of your default account. Default engagement_rate or, where nobody counts impressions, reactions per post.',
          }),
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
