/** The states of an item as it is posted. */
import type { Item } from '../drafting/item.ts'
import { posted, postedEvent } from '../drafting/item-moves.ts'
import { itemStates } from '../drafting/item-states.ts'
import { marksIn } from '../drafting/marks.ts'
import { machineOf, type Transitions, unapproved } from './sendable.ts'

const unscheduled = { post_at: null, on_missed: null } as const

const itemEvent = (type: string, { id, batch_id }: Item, reason: string) => ({
  type,
  data: { item_id: id, batch_id, reason },
})

export const post: Transitions<Item> = {
  ...itemStates,
  ...machineOf<Item>({ sending: 'publishing', sent: 'posted', unconfirmed: 'publish_unconfirmed' }),
  kind: 'post',
  contentOf: ({ body }) => body,
  marksOf: ({ marks }) => marksIn(marks),
  textOf: ({ body }) => body,
  scheduleOf: ({ post_at, on_missed }) => post_at && { at: post_at, onMissed: on_missed },
  networkOf: () => null,
  isWaiting: ({ status, post_at }, origin) =>
    origin === 'manual' ? status === 'publishing' : status === 'approved' && post_at !== null,
  // Drafts and rejected items are not watched. Before another send, their post is looked for.
  isWatched: ({ status }) =>
    ['approved', 'publish_failed', 'publishing', 'posted'].includes(status),
  sent(item, made, now) {
    const record = posted(item, { ...made, now })
    return { record, events: [postedEvent(record)] }
  },
  failed: (item, reason, now) => ({
    record: {
      ...item,
      ...unscheduled,
      status: 'publish_failed',
      last_error: reason,
      updated_at: now,
    },
    events: [itemEvent('growth.item.failed', item, reason)],
  }),
  returned: (item, reason, now) => ({
    record: {
      ...item,
      ...(reason === 'approval_stale' ? unapproved : { status: 'approved' }),
      ...unscheduled,
      last_error: reason,
      updated_at: now,
    },
    events: [itemEvent('growth.item.returned', item, reason)],
  }),
  unsent: (item, now) => ({
    ...item,
    status: item.post_at ? 'approved' : 'publishing',
    updated_at: now,
  }),
  reviewEvent: ({ id }) => ({
    type: 'growth.approval.requested',
    data: { kind: 'item_review', item_id: id },
  }),
}
