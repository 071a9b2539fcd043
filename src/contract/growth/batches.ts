import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, page, record, Time } from '../shapes.ts'
import { Item } from './items.ts'

const fields = {
  id: Id,
  status: oneOf(['queued', 'generating', 'ready', 'failed']),
  error: nullable(T.String({ description: 'With failed: generation_failed: <hint>, cancelled or enqueue_failed.' })),
  focus: T.String(),
  experiment_id: nullable(Id),
  requested: T.Integer({ description: 'How many posts were asked for.' }),
  delivered: T.Integer({ description: 'How many were drafted; what is missing goes back to the quota.' }),
  model: nullable(T.String({ description: 'Who wrote it: a model, or composer, the offline drafter.' })),
  usage: nullable(record({ input_tokens: T.Integer(), output_tokens: T.Integer(), cost_micros: T.Integer() })),
  created_at: Time,
  updated_at: Time,
}

const Batch = record(fields, { title: 'Batch' })

export const batches = {
  create: op(
    'POST /api/v1/growth/batches',
    'Draft a batch of posts from the growth profile. Each post asked for takes one from the quota of the month; what is not delivered is given back. Answers at once; poll the batch until it is ready or failed. 409 while channel posts is inactive.',
    {
      input: {
        count: T.Optional(T.Integer({ minimum: 1, maximum: 20, default: 5, description: 'How many posts, 5 when absent.' })),
        focus: T.Optional(T.String({ maxLength: 2_000, description: 'What the batch is about.' })),
        experiment_id: T.Optional(T.String({ format: 'uuid', description: 'A running experiment: its arms share the posts.' })),
      },
      output: record({ batch: Batch }),
    },
    {
      ...{ tool: 'growth_create_batch', status: 201, roles: ['editor'], settles: 'get' },
      ...{ quota: 'posts', cap: 'create_batch', errors: ['plan_feature_disabled', 'not_found', 'conflict'] },
    },
  ),
  list: op(
    'GET /api/v1/growth/batches',
    'List batches, newest first. Shows which are ready, and why one failed; the drafts themselves are items.',
    { input: page, output: record({ batches: T.Array(Batch), next_cursor: NextCursor }) },
    { tool: 'growth_list_batches' },
  ),
  get: op(
    'GET /api/v1/growth/batches/:id',
    'Read one batch with its drafted items. While it is in flight, poll about every 20 seconds.',
    { input: { id: Id }, output: record({ batch: record({ ...fields, items: T.Array(Item) }, { title: 'BatchWithItems' }) }) },
    { errors: ['not_found'] },
  ),
}
