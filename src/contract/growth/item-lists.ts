/** Finding items. */
import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { ItemSchema, itemStatuses } from '../records/growth/item.ts'
import { metricRecord } from '../records/growth/metric.ts'
import { OnlyRestored } from '../records/growth/restored.ts'
import {
  cursorLike,
  Id,
  NextCursor,
  NOT_BLANK,
  oneOf,
  page,
  record,
  someOf,
  Time,
} from '../shapes.ts'

/** All filters must match. */
const filters = {
  status: T.Optional(someOf([...itemStatuses, 'scheduled'], 'State. approved includes scheduled.')),
  kind: T.Optional(oneOf(['post', 'article'], { description: 'Only these.' })),
  batch_id: T.Optional(T.String({ format: 'uuid', description: 'Of a batch.' })),
  experiment_id: T.Optional(T.String({ format: 'uuid', description: 'Of an experiment.' })),
  restored: T.Optional(OnlyRestored),
  account: T.Optional(
    T.String({ format: 'uuid', description: 'The id of the connected account that sends it.' }),
  ),
  tag: T.Optional(
    T.String({ minLength: 1, maxLength: 100, pattern: NOT_BLANK, description: 'With this tag.' }),
  ),
  q: T.Optional(
    T.String({
      minLength: 1,
      maxLength: 200,
      description: 'Words that the text or the note must all contain.',
      examples: ['dock delay'],
    }),
  ),
  from: T.Optional({
    ...Time,
    description:
      'From this time on: post_at where it has one, posted_at if posted, else created_at; or the time of sort.',
  }),
  to: T.Optional({ ...Time, description: 'Before this time.' }),
  sort: T.Optional(
    oneOf(['created', 'post_at', 'posted_at'], {
      description:
        'created and posted_at: newest first; post_at: soonest first. Only items with that time. Default: newest first.',
    }),
  ),
  total: T.Optional(T.Boolean({ description: 'Count all that match, up to 10,000.' })),
}

export const itemLists = {
  list: op.query(
    'GET /api/v1/growth/items',
    'List content items, newest first. Drafted items await approval.',
    {
      input: { ...filters, ...page },
      output: record({
        items: T.Array(ItemSchema),
        next_cursor: NextCursor,
        total: T.Optional(
          T.Integer({
            description: 'If asked for: how many match; 10,000 means that many or more.',
          }),
        ),
      }),
    },
    { tool: 'growth_list_queue', agent: 'read', foreign: true },
  ),
  metrics: op.query(
    'GET /api/v1/growth/items/:id/metrics',
    "List an item's numbers over time, newest first. Of days long past, the last reading of each is kept.",
    {
      input: {
        id: Id,
        ...page,
        cursor: cursorLike('MTc5NTUwMDAwMDAwMCAwMThmNDdhMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDA'),
      },
      output: record({ metrics: T.Array(metricRecord.schema), next_cursor: NextCursor }),
    },
    { errors: ['not_found'] },
  ),
}
