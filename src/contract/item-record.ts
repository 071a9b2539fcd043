/** An item as every surface returns it. */
import { Type as T } from '@sinclair/typebox'
import { Author, called, Id, nullable, oneOf, record, Time } from './shapes.ts'

export const itemStatuses = ['drafted', 'approved', 'publishing', 'posted', 'rejected', 'publish_failed', 'publish_unconfirmed'] as const
export const ItemStatus = oneOf(itemStatuses)
export const OnMissed = oneOf(['post', 'skip'], {
  description: 'If overdue: post it when less than an hour late, or skip it and return it to approved.',
})

/** A network's counts of a post. */
export const counted = {
  impressions: T.Integer({ minimum: 0 }),
  likes: T.Integer({ minimum: 0 }),
  replies: T.Integer({ minimum: 0 }),
  reposts: T.Integer({ minimum: 0 }),
  quotes: T.Integer({ minimum: 0 }),
  clicks: T.Integer({ minimum: 0 }),
}

const Metrics = record(
  { at: Time, ...counted },
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

export const PostingAccount = record(
  { id: Id, handle: T.String(), network: T.String() },
  { description: 'The account that sends it: the one of its approval, or else the chosen or the default one.' },
)

const Decision = record(
  {
    what: oneOf(['approved', 'scheduled', 'unscheduled', 'reopened', 'rejected', 'post_requested', 'marked_posted']),
    by: Author,
    at: Time,
  },
  { description: 'The last decision on it.' },
)

export const Warnings = T.Array(
  record({
    code: oneOf(['avoided_phrase', 'repeats_item', 'costly_link', 'outside_cadence', 'unseen_characters']),
    message: T.String(),
    item_id: nullable(T.String({ format: 'uuid', description: 'The item that it repeats.' })),
  }),
  { description: 'What to know before approving or scheduling it; a warning refuses nothing. Empty in other states.' },
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
    tags: T.Array(T.String()),
    note: nullable(T.String({ description: 'For the team; never sent.' })),
    proposed_at: nullable(Time),
    revision: T.Integer({ description: 'Counts versions of the text, from 1.' }),
    original_body: nullable(T.String({ description: 'The first text, if a later one has replaced it.' })),
    content_hash: T.String({ description: 'SHA-256 of the text that the network is given.' }),
    posting_account: called('account', nullable(PostingAccount)),
    decision: nullable(Decision),
    warnings: Warnings,
    redraft: nullable(oneOf(['queued', 'generating', 'failed'], { description: 'Set while it is written again, and if that failed.' })),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'Item' },
)
