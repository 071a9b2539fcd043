import { Type as T } from '@sinclair/typebox'
import { cancels, generationsPage } from '../generation.ts'
import { op } from '../op.ts'
import { batchRecord } from '../records/growth/batch.ts'
import { ItemSchema } from '../records/growth/item.ts'
import { Id, NextCursor, record } from '../shapes.ts'

const Batch = batchRecord.schema

export const batches = {
  create: op.command(
    'POST /api/v1/growth/batches',
    'Draft a batch of posts from the growth profile. Each requested post uses one of the monthly quota; posts not delivered are returned. Poll the batch until ready or failed. 409 while the posts channel is inactive.',
    {
      input: {
        count: T.Optional(
          T.Integer({
            minimum: 1,
            maximum: 20,
            default: 5,
            description: 'How many posts. Default 5.',
          }),
        ),
        focus: T.Optional(T.String({ maxLength: 2_000, description: 'What the batch is about.' })),
        experiment_id: T.Optional(
          T.String({
            format: 'uuid',
            description: 'A running experiment, whose arms share the posts.',
          }),
        ),
      },
      output: record({ batch: Batch }),
    },
    {
      tool: 'growth_create_batch',
      agent: 'draft',
      status: 201,
      roles: ['editor'],
      settles: 'get',
      quota: 'posts',
      cap: 'create_batch',
      errors: ['plan_feature_disabled', 'not_found', 'conflict'],
    },
  ),
  list: op.query(
    'GET /api/v1/growth/batches',
    'List batches, newest first. Shows which are ready and why any failed; the drafts are items.',
    {
      input: generationsPage,
      output: record({ batches: T.Array(Batch), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_batches', agent: 'read' },
  ),
  get: op.query(
    'GET /api/v1/growth/batches/:id',
    'Read a batch with its drafted items. While it is in flight, poll about every 20 seconds.',
    {
      input: { id: Id },
      output: record({
        batch: record(
          { ...Batch.properties, items: T.Array(ItemSchema) },
          { title: 'BatchWithItems' },
        ),
      }),
    },
    { errors: ['not_found'] },
  ),
  cancel: op.command(
    'POST /api/v1/growth/batches/:id/cancel',
    'Cancel a batch that is queued or generating. The posts that are drafted by then stay, and make it ready; without any it fails as cancelled. Posts not delivered return to the quota. One that has settled stays as it is.',
    { input: { id: Id }, output: record({ batch: Batch }) },
    cancels,
  ),
}
