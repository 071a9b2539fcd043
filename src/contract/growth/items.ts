import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { Id, NextCursor, nullable, oneOf, page, record, Time, timeOrSlot } from '../shapes.ts'

const statuses = ['drafted', 'approved', 'publishing', 'posted', 'rejected', 'publish_failed', 'publish_unconfirmed'] as const
export const ItemStatus = oneOf(statuses)
export const OnMissed = oneOf(['post', 'skip'], {
  description: 'A scheduled post found overdue: post it if it is less than an hour late, or skip it back to approved.',
})

const counts = {
  impressions: T.Integer({ minimum: 0 }),
  likes: T.Integer({ minimum: 0 }),
  replies: T.Integer({ minimum: 0 }),
  reposts: T.Integer({ minimum: 0 }),
  quotes: T.Integer({ minimum: 0 }),
  clicks: T.Integer({ minimum: 0 }),
}

const Metrics = record(
  { at: Time, ...counts },
  { title: 'Metrics', description: 'What the network counts of a post, as read last; null before.' },
)

/** Without a title: lists of tools name it, and spell it out nowhere. */
const Doubt = record(
  {
    cause: oneOf(['server_error', 'no_answer', 'unclear_answer', 'process_stopped'], {
      description: 'server_error: the network answered with an error (5xx). no_answer: a time-out or a broken connection.',
    }),
    resolves: oneOf(['by_itself', 'by_person'], {
      description:
        'by_itself: the network promises how late it applies what it answers with an error. If complete reads of the timeline after that do not show the post, the item becomes approved, not scheduled; only a new request sends it. by_person: a person must look if reads do not show it.',
    }),
    next_read_at: nullable(Time),
  },
  {
    description:
      'With publish_unconfirmed: why nobody knows whether it was posted, what resolves that, and when the timeline is read next (null: not any more, or not while paused). Null otherwise.',
  },
)

export const Item = record(
  {
    id: Id,
    batch_id: nullable(Id),
    experiment_id: nullable(Id),
    arm: nullable(T.String({ description: 'Of the experiment, by name.' })),
    resurfaced_from: nullable(T.String({ format: 'uuid', description: 'The posted item whose text it takes up again.' })),
    kind: oneOf(['post', 'article']),
    title: nullable(T.String({ description: 'Of an article: the first line of its body. Null for posts.' })),
    status: ItemStatus,
    review: T.Boolean({ description: 'With publish_unconfirmed: a person must look whether it was posted.' }),
    body: T.String(),
    format: T.String(),
    hook: T.String({ description: 'The opening pattern used.' }),
    rationale: T.String({ description: 'Why this draft.' }),
    stories: T.Array(T.String(), { description: "The profile's stories used." }),
    learnings: T.Array(Id, { description: 'The learnings used.' }),
    length: T.Integer({ description: "By the network's own rule." }),
    post_at: nullable(Time),
    on_missed: nullable(OnMissed),
    account: nullable(T.String({ description: "The network's id of the account that the approval is bound to." })),
    reject_reason: nullable(T.String()),
    external_id: nullable(T.String({ description: "The network's id of the post." })),
    url: nullable(T.String()),
    posted_at: nullable(Time),
    last_error: nullable(T.String()),
    metrics: nullable(Metrics),
    doubt: nullable(Doubt),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Item' },
)

const PostAgain = oneOf(['post_again'], {
  description: 'A person has looked, and wants an item in doubt posted again. Means nothing for an item in another state.',
})

const OneItem = record({ item: Item })
const id = Id
const onItem = ['not_found', 'conflict'] as const

export const items = {
  list: op(
    'GET /api/v1/growth/items',
    'List content items, newest first; drafted ones wait for approval.',
    {
      input: { status: T.Optional(oneOf(statuses, { description: 'Only items in this state.' })), ...page },
      output: record({ items: T.Array(Item), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_queue' },
  ),
  approve: op(
    'POST /api/v1/growth/items/:id/approve',
    'Approve a drafted item, as it is or with an edited body. Nothing is posted yet. It must keep to the format rules of its channel. The approval is bound to this text and to the default account.',
    {
      input: {
        id,
        edited_body: T.Optional(T.String({ minLength: 1, maxLength: 25_000 })),
        title: T.Optional(
          T.String({
            minLength: 1,
            maxLength: 200,
            description: 'Another title for an article; it becomes its first line. Not for posts.',
          }),
        ),
      },
      output: OneItem,
    },
    { tool: 'growth_approve_item', errors: onItem, roles: ['approver'] },
  ),
  reject: op(
    'POST /api/v1/growth/items/:id/reject',
    'Reject a drafted item, or one that the network refused. It cannot be approved afterwards.',
    { input: { id, reason: T.Optional(T.String({ maxLength: 2_000 })) }, output: OneItem },
    { tool: 'growth_reject_item', errors: onItem, roles: ['editor', 'approver'], destructive: true },
  ),
  schedule: op(
    'POST /api/v1/growth/items/:id/schedule',
    'Schedule an approved item, or move its time. next_slot is the next free slot of the cadence (409 if none in 60 days). Posted when due; overdue posts follow on_missed.',
    { input: { id, post_at: timeOrSlot(), on_missed: T.Optional(OnMissed) }, output: OneItem },
    { tool: 'growth_schedule_item', errors: onItem, roles: ['approver'], outside: true, repeatable: true },
  ),
  unschedule: op(
    'POST /api/v1/growth/items/:id/unschedule',
    'Take an item off the schedule; it stays approved.',
    { input: { id }, output: OneItem },
    { tool: 'growth_unschedule_item', errors: onItem, roles: ['editor', 'approver'] },
  ),
  postNow: op(
    'POST /api/v1/growth/items/:id/post-now',
    'Post an approved item now. Others see it at once. Answers 202 with the item as it stands when the network takes longer than 20 seconds; poll the item. ' +
      'An item in doubt (publish_unconfirmed) is not sent again: 409, unless a person who is signed in, not an API key, confirms with ' +
      'post_again. Then the timeline is read first: if it shows the post, the item is posted; if it cannot be read to its end, nothing is sent.',
    { input: { id, confirm: T.Optional(PostAgain) }, output: OneItem },
    {
      tool: 'growth_post_item',
      errors: [...onItem, 'x_not_connected', 'network_error'],
      cap: 'post_now',
      exempt: ['answers'],
      slow: true,
      roles: ['approver'],
      destructive: true,
      outside: true,
    },
  ),
  markPosted: op(
    'POST /api/v1/growth/items/:id/posted',
    'Mark an approved item posted by hand, or settle an unconfirmed one that is on the network. Sends nothing.',
    { input: { id, url: T.Optional(T.String({ format: 'uri', maxLength: 2_000 })) }, output: OneItem },
    { tool: 'growth_mark_item_posted', errors: onItem, roles: ['approver'], destructive: true },
  ),
}
