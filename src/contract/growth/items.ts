import { Type as T } from '@sinclair/typebox'
import { ReplyWait } from '../keyed-input.ts'
import { op } from '../op.ts'
import { ItemSchema, OnMissedSchema } from '../records/growth/item.ts'
import { ExpectHash, Id, oneOf, onlyPeople, record, theText, timeOrSlot } from '../shapes.ts'
import { itemBulk, OnlyIfFree } from './item-bulk.ts'
import { itemComments } from './item-comments.ts'
import { itemLife } from './item-life.ts'
import { itemLists } from './item-lists.ts'
import { itemPreview } from './item-preview.ts'
import { itemReading } from './item-reading.ts'
import { itemRedrafts } from './item-redrafts.ts'
import { itemTexts } from './item-texts.ts'

const PostAgain = oneOf(['post_again'], {
  description: 'A person has checked: post an item in doubt again. Ignored in other states.',
})

const OneItem = record({ item: ItemSchema })
const id = Id
const onItem = ['not_found', 'conflict'] as const

export const items = {
  ...itemLists,
  ...itemPreview,
  ...itemReading,
  ...itemLife,
  ...itemBulk,
  ...itemTexts,
  ...itemRedrafts,
  ...itemComments,
  approve: op.command(
    'POST /api/v1/growth/items/:id/approve',
    'Approve a drafted item, as is or with an edited body. Posts nothing yet; with post_at it is scheduled too. The text must follow the format rules of its channel. The approval covers this text and the default account only.',
    {
      input: {
        id,
        edited_body: theText(T.Optional(T.String({ minLength: 1, maxLength: 25_000 }))),
        title: T.Optional(
          T.String({
            minLength: 1,
            maxLength: 200,
            description:
              'A new title for an article, which becomes its first line. Not allowed for posts.',
          }),
        ),
        expect_hash: T.Optional(ExpectHash),
        post_at: T.Optional(timeOrSlot('Also schedule it.')),
        on_missed: T.Optional(OnMissedSchema),
        only_if_free: OnlyIfFree,
      },
      output: OneItem,
    },
    {
      tool: 'growth_approve_item',
      agent: 'commit',
      foreign: true,
      errors: onItem,
      roles: ['approver'],
      destructive: true,
    },
  ),
  reject: op.command(
    'POST /api/v1/growth/items/:id/reject',
    'Reject a drafted item, or one that the network refused. You cannot approve it afterwards.',
    { input: { id, reason: T.Optional(T.String({ maxLength: 2_000 })) }, output: OneItem },
    {
      tool: 'growth_reject_item',
      agent: 'draft',
      foreign: true,
      errors: onItem,
      roles: ['editor', 'approver'],
      recalls: true,
      destructive: true,
    },
  ),
  schedule: op.command(
    'POST /api/v1/growth/items/:id/schedule',
    'Schedule or reschedule an approved item. next_slot picks the next free slot of the cadence (409 if none in 60 days). It is posted when due; overdue posts follow on_missed.',
    {
      input: {
        id,
        post_at: timeOrSlot(),
        on_missed: T.Optional(OnMissedSchema),
        only_if_free: OnlyIfFree,
      },
      output: OneItem,
    },
    {
      tool: 'growth_schedule_item',
      agent: 'commit',
      foreign: true,
      errors: onItem,
      roles: ['approver'],
      destructive: true,
      outside: true,
      repeatable: true,
    },
  ),
  unschedule: op.command(
    'POST /api/v1/growth/items/:id/unschedule',
    'Unschedule an item. It stays approved.',
    { input: { id }, output: OneItem },
    {
      tool: 'growth_unschedule_item',
      agent: 'draft',
      foreign: true,
      errors: onItem,
      roles: ['editor', 'approver'],
    },
  ),
  postNow: op.awaited(
    'POST /api/v1/growth/items/:id/post-now',
    'Post an approved item now. It is public at once. Returns 202 with the current item if the outcome takes longer than 20 seconds, or the time in wait; poll the item. ' +
      'An item in doubt (publish_unconfirmed) is not sent again: 409, unless a signed-in person, not an API key, confirms with ' +
      'post_again. That reads the timeline first: if it shows the post, the item becomes posted; if it cannot be read completely, nothing is sent.',
    { input: { id, confirm: T.Optional(onlyPeople(PostAgain)), wait: ReplyWait }, output: OneItem },
    {
      tool: 'growth_post_item',
      agent: 'commit',
      foreign: true,
      errors: [...onItem, 'x_not_connected', 'network_error'],
      cap: 'post_now',
      exempt: ['answers'],
      roles: ['approver'],
      destructive: true,
      outside: true,
    },
  ),
  markPosted: op.command(
    'POST /api/v1/growth/items/:id/posted',
    'Mark an item posted: an approved one posted by hand, or an unconfirmed one found on the network. Sends nothing. A post of the account that the URL names is read back, and measured like any other.',
    {
      input: { id, url: T.Optional(T.String({ format: 'uri', maxLength: 2_000 })) },
      output: OneItem,
    },
    {
      tool: 'growth_mark_item_posted',
      agent: 'commit',
      foreign: true,
      errors: onItem,
      roles: ['approver'],
      destructive: true,
    },
  ),
}
