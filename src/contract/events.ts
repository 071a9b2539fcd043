/** What a workspace's endpoint can be told of, with what each event carries. The first three are the API document's, the rest are ours. */
import { Type as T, type TSchema } from '@sinclair/typebox'
import { Id, nullable, oneOf, record, Time } from './shapes.ts'

interface EventDeclaration {
  type: string
  summary: string
  /** Of the payload's `data`. */
  data: TSchema
}

const error = nullable(T.String({ description: 'The code that the record has, such as generation_failed: <hint>.' }))
const reason = T.String({ description: "What the item's last_error says." })
const ofItem = { item_id: Id, batch_id: nullable(Id) }

/** What waits for a person. `kind` tells which id there is. */
const Approval = T.Union([
  record({ kind: oneOf(['batch']), batch_id: Id, items: T.Integer({ minimum: 1, description: 'How many drafts it has.' }) }),
  record({ kind: oneOf(['article']), article_id: Id, item_id: Id }),
  record({ kind: oneOf(['item', 'item_review']), item_id: Id }),
  record({ kind: oneOf(['engagement']), engagement_id: Id, action: oneOf(['reply', 'quote', 'repost', 'like']) }),
  record({ kind: oneOf(['engagement_review']), engagement_id: Id }),
])

export const events = [
  {
    type: 'growth.batch.settled',
    summary: 'A batch is ready or failed; carries the same error code as the record.',
    data: record({ batch_id: Id, status: oneOf(['ready', 'failed']), error, requested: T.Integer(), delivered: T.Integer() }),
  },
  {
    type: 'growth.approval.requested',
    summary: 'Drafts wait for approval, or a post in doubt waits for a person to look.',
    data: Approval,
  },
  {
    type: 'growth.item.posted',
    summary: 'An item was posted, in whatever way.',
    data: record({ ...ofItem, external_id: nullable(T.String()), url: nullable(T.String()), posted_at: Time }),
  },
  {
    type: 'growth.item.returned',
    summary:
      'An item is approved and off the schedule: it was due and not sent, or the network answered with an error and did not post it. Carries the reason.',
    data: record({ ...ofItem, reason }),
  },
  {
    type: 'growth.item.failed',
    summary: 'The network refused an item, or could not be reached for an hour.',
    data: record({ ...ofItem, reason }),
  },
  {
    type: 'webhook.test',
    summary: 'Sent when somebody tries the endpoint, whatever its allow-list says.',
    data: record({}),
  },
] as const satisfies EventDeclaration[]

export const eventKinds = events.map(({ type }) => type)
