import { Type as T } from '@sinclair/typebox'
import { op } from '../op.ts'
import { called, Id, NextCursor, nullable, oneOf, onlyPeople, page, record, Time, timeOrSlot } from '../shapes.ts'

const statuses = ['drafted', 'approved', 'publishing', 'posted', 'rejected', 'publish_failed', 'publish_unconfirmed'] as const
export const ItemStatus = oneOf(statuses)
export const OnMissed = oneOf(['post', 'skip'], {
  description: 'If overdue: post it when less than an hour late, or skip it and return it to approved.',
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
  { title: 'Metrics', description: "The network's counts at the last read; null before the first." },
)

/** Without a title, so that tool lists show only its type. */
const Doubt = record(
  {
    cause: oneOf(['server_error', 'no_answer', 'unclear_answer', 'process_stopped'], {
      description: 'server_error: the network returned a 5xx error. no_answer: the request timed out or the connection broke.',
    }),
    resolves: oneOf(['by_itself', 'by_person'], {
      description:
        'by_itself: the network guarantees how late it applies a request that it answered with an error. If complete reads of the timeline after that time do not show the post, the item returns to approved, unscheduled; only a new request sends it. by_person: if the reads do not show the post, a person must check.',
    }),
    next_read_at: nullable(Time),
  },
  {
    description:
      'Set while publish_unconfirmed: why it is unknown whether the post went out, what settles it, and when the timeline is read next (null when no more reads are planned or automation is paused).',
  },
)

export const Item = record(
  {
    id: Id,
    batch_id: nullable(Id),
    experiment_id: nullable(Id),
    arm: nullable(T.String({ description: 'The name of the experiment arm.' })),
    resurfaced_from: called('item', nullable(T.String({ format: 'uuid', description: 'The posted item that this one resurfaces.' }))),
    kind: oneOf(['post', 'article']),
    title: nullable(T.String({ description: "The first line of an article's body; null for posts." })),
    status: ItemStatus,
    review: T.Boolean({ description: 'True when publish_unconfirmed and a person must check whether it was posted.' }),
    body: T.String(),
    format: T.String(),
    hook: T.String({ description: 'The opening pattern used.' }),
    rationale: T.String({ description: 'Why this was drafted.' }),
    stories: T.Array(T.String(), { description: 'Stories of the profile that it uses.' }),
    learnings: T.Array(Id, { description: 'Learnings that it follows.' }),
    length: T.Integer({ description: "Counted by the network's rule." }),
    post_at: nullable(Time),
    on_missed: nullable(OnMissed),
    account: nullable(T.String({ description: "The network's id of the account that the approval covers." })),
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
  description: 'A person has checked: post an item in doubt again. Ignored in other states.',
})

const OneItem = record({ item: Item })
const id = Id
const onItem = ['not_found', 'conflict'] as const

export const items = {
  list: op.query(
    'GET /api/v1/growth/items',
    'List content items, newest first. Drafted items await approval.',
    {
      input: { status: T.Optional(oneOf(statuses, { description: 'Return only items in this state.' })), ...page },
      output: record({ items: T.Array(Item), next_cursor: NextCursor }),
    },
    { tool: 'growth_list_queue', agent: 'read' },
  ),
  approve: op.command(
    'POST /api/v1/growth/items/:id/approve',
    'Approve a drafted item, as is or with an edited body. Posts nothing yet. The text must follow the format rules of its channel. The approval covers this text and the default account only.',
    {
      input: {
        id,
        edited_body: T.Optional(T.String({ minLength: 1, maxLength: 25_000 })),
        title: T.Optional(
          T.String({
            minLength: 1,
            maxLength: 200,
            description: 'A new title for an article, which becomes its first line. Not allowed for posts.',
          }),
        ),
      },
      output: OneItem,
    },
    { tool: 'growth_approve_item', agent: 'commit', errors: onItem, roles: ['approver'] },
  ),
  reject: op.command(
    'POST /api/v1/growth/items/:id/reject',
    'Reject a drafted item, or one that the network refused. You cannot approve it afterwards.',
    { input: { id, reason: T.Optional(T.String({ maxLength: 2_000 })) }, output: OneItem },
    { tool: 'growth_reject_item', agent: 'draft', errors: onItem, roles: ['editor', 'approver'], destructive: true },
  ),
  schedule: op.command(
    'POST /api/v1/growth/items/:id/schedule',
    'Schedule or reschedule an approved item. next_slot picks the next free slot of the cadence (409 if none in 60 days). It is posted when due; overdue posts follow on_missed.',
    { input: { id, post_at: timeOrSlot(), on_missed: T.Optional(OnMissed) }, output: OneItem },
    { tool: 'growth_schedule_item', agent: 'commit', errors: onItem, roles: ['approver'], outside: true, repeatable: true },
  ),
  unschedule: op.command(
    'POST /api/v1/growth/items/:id/unschedule',
    'Unschedule an item. It stays approved.',
    { input: { id }, output: OneItem },
    { tool: 'growth_unschedule_item', agent: 'draft', errors: onItem, roles: ['editor', 'approver'] },
  ),
  postNow: op.awaited(
    'POST /api/v1/growth/items/:id/post-now',
    'Post an approved item now. It is public at once. Returns 202 with the current item if the network takes longer than 20 seconds; poll the item. ' +
      'An item in doubt (publish_unconfirmed) is not sent again: 409, unless a signed-in person, not an API key, confirms with ' +
      'post_again. That reads the timeline first: if it shows the post, the item becomes posted; if it cannot be read completely, nothing is sent.',
    { input: { id, confirm: T.Optional(onlyPeople(PostAgain)) }, output: OneItem },
    {
      tool: 'growth_post_item',
      agent: 'commit',
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
    'Mark an item posted: an approved one posted by hand, or an unconfirmed one found on the network. Sends nothing.',
    { input: { id, url: T.Optional(T.String({ format: 'uri', maxLength: 2_000 })) }, output: OneItem },
    { tool: 'growth_mark_item_posted', agent: 'commit', errors: onItem, roles: ['approver'], destructive: true },
  ),
}
