/** One decision on many items. */
import { Type as T } from '@sinclair/typebox'
import { conflictFields } from '../conflict.ts'
import { op } from '../op.ts'
import { ItemSchema, OnMissedSchema } from '../records/growth/item.ts'
import { Id, nullable, oneOf, record, timeOrSlot } from '../shapes.ts'
import { tags } from './item-texts.ts'

export const bulkActions = [
  'approve',
  'reject',
  'schedule',
  'unschedule',
  'reopen',
  'delete',
  'tag',
  'post',
  'mark_posted',
] as const

/** How many items a request may name, and how many of them are decided in one commit. */
const MOST = 100
const TOGETHER = 20

export const OnlyIfFree = T.Optional(
  T.Boolean({
    examples: [false],
    description: 'Refuse (409) a minute that another post of the account has.',
  }),
)

const Entry = record({
  id: Id,
  post_at: T.Optional(timeOrSlot('Required to schedule; to approve, it schedules too.')),
  on_missed: T.Optional(OnMissedSchema),
  only_if_free: OnlyIfFree,
  reason: T.Optional(T.String({ maxLength: 2_000, description: 'For reject.' })),
  tags: T.Optional(tags),
  url: T.Optional(
    T.String({ format: 'uri', maxLength: 2_000, description: 'For mark_posted: of the post.' }),
  ),
  expect_hash: T.Optional(
    T.String({
      pattern: '^[0-9a-f]{64}$',
      examples: ['0'.repeat(64)],
      description: 'For approve: the whole content_hash that you saw.',
    }),
  ),
})

const Result = record({
  id: Id,
  item: nullable(ItemSchema),
  error: nullable(
    record({
      code: T.String(),
      message: T.String(),
      ...conflictFields,
      details: T.Array(record({ path: T.String(), message: T.String() })),
    }),
  ),
})

export const itemBulk = {
  bulk: op.prepared(
    'POST /api/v1/growth/items/bulk',
    `Do one thing with up to ${MOST} items. Each succeeds or fails for itself, as by its own operation: the results are in the order of the request. To approve, give the expect_hash of each. post does not wait for the network: read the items again for the outcome. If the request fails in the middle, repeat it with the same Idempotency-Key.`,
    {
      input: {
        action: oneOf(bulkActions, { examples: ['reopen'] }),
        items: T.Array(Entry, { minItems: 1, maxItems: MOST, description: 'Distinct items.' }),
      },
      output: record({ results: T.Array(Result) }),
    },
    { roles: ['editor', 'approver'], recalls: true, inParts: { field: 'items', most: TOGETHER } },
  ),
}
