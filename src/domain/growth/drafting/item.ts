/** A content item. Its transitions are in item-moves.ts; what becomes of it as it is posted is in sending/post.ts. */
import { createHash } from 'node:crypto'
import { fail } from '#kernel/errors'
import type { Metrics } from '../metrics.ts'
import { refuseWithWay } from '../way-on.ts'
import type { Draft } from './draft.ts'
import { wayOnOf } from './item-ways.ts'
import type { OnMissed } from './profile.ts'
import type { Author } from './revision.ts'
import type { Repeated, Warning } from './warnings.ts'

export type ItemStatus = 'drafted' | 'approved' | 'publishing' | 'posted' | 'rejected' | 'publish_failed' | 'publish_unconfirmed'

export interface Item {
  id: string
  batch_id: string | null
  /** The experiment, and the arm that the item was drafted for. */
  experiment_id: string | null
  arm: string | null
  /** The posted item whose text this one repeats. */
  resurfaced_from: string | null
  kind: 'post' | 'article'
  /** The first line of an article's body. Null for posts, and for an article whose title a person removed. */
  title: string | null
  status: ItemStatus
  /** In doubt, and automatic reads have given up: a person must check. */
  review: boolean
  body: string
  format: string
  hook: string
  rationale: string
  stories: string[]
  learnings: string[]
  /** The body's length, by the network's own count. */
  length: number
  /** Set on an approved item: it is scheduled. */
  post_at: Date | null
  on_missed: OnMissed | null
  /** SHA-256 of the approved content. A send whose content differs is refused. */
  approved_hash: string | null
  /** The network's id of the account that the approval is bound to. Null if no account was connected. */
  account_external_id: string | null
  reject_reason: string | null
  external_id: string | null
  url: string | null
  posted_at: Date | null
  last_error: string | null
  tags: string[]
  /** For the team; never sent. */
  note: string | null
  /** The time it was scheduled for when it last became a draft again. */
  proposed_at: Date | null
  /** Counts versions of the text, from 1. */
  revision: number
  /** Who wrote the present text; null: a drafter. */
  written_by: Author | null
  /** When; null: as the item was made. */
  written_at: Date | null
  /** The connection that a person chose for it; null: whichever account is the default at its approval. */
  account_id: string | null
  /** The last decision on it. */
  decision: ItemDecision | null
  /** The account that sends it: the one that its approval is bound to, or else the chosen or the default one. Stored with the accounts. */
  posting_account?: PostingAccount | null
  /** The first text, where a later one has replaced it. Stored with the earlier revisions. */
  original_body?: string | null
  /** Of a draft: the approved, scheduled or posted item whose text is nearly the same. Stored with the prints of texts. */
  repeats?: Repeated | null
  /** Of a draft that a person wrote: the phrases that the profile avoids. */
  avoid?: string[] | null
  /** As they were found for this answer. */
  warnings?: Warning[]
  /** Set while a drafter writes it again, and if that failed. Stored with the redrafts. */
  redraft?: ItemRedraft | null
  /** The latest metrics; absent or null if none were read. Stored apart from the item. */
  metrics?: ItemMetrics | null
  /** Set on an unconfirmed item. Stored with the attempt. */
  doubt?: ItemDoubt | null
  created_at: Date
  updated_at: Date
}

/** What was decided of an item. `post_requested`: to post it now. `marked_posted`: a person says that it is on the network. */
type DecisionOfItem = 'approved' | 'scheduled' | 'unscheduled' | 'reopened' | 'rejected' | 'post_requested' | 'marked_posted'

export interface ItemDecision {
  what: DecisionOfItem
  by: Author
  at: Date | string
}

/** The last request to write a version of the text again that has not led to another one. */
interface ItemRedraft {
  status: 'queued' | 'generating' | 'failed'
  revision: number
}

interface PostingAccount {
  id: string
  handle: string
  network: string
}

/** Why the result of a send is unknown. `server_error`: the network answered with a 5xx. */
export type DoubtCause = 'server_error' | 'no_answer' | 'unclear_answer' | 'process_stopped'

/** A send's doubt: its cause, who resolves it, and the next read of the timeline. No next read (null): reading is over, or paused. */
export interface ItemDoubt {
  cause: DoubtCause
  resolves: 'by_itself' | 'by_person'
  next_read_at: Date | string | null
}

interface ItemMetrics extends Metrics {
  at: Date | string
}

/** The hash that binds an approval to a text and to the account that sends it. */
export const contentHash = (body: string, accountExternalId: string | null): string =>
  createHash('sha256')
    .update(JSON.stringify({ body, attachments: [], account: accountExternalId }))
    .digest('hex')

/** The state in words, for messages. */
export const stateOf = (item: Item): string => {
  if (item.status === 'approved' && item.post_at) return 'scheduled'
  if (item.status === 'publish_unconfirmed' && item.review) return 'publish_unconfirmed (in review)'
  return item.status
}

/** Throws `conflict`, naming the state and the way on. */
export const illegal = (item: Item, action: string): never =>
  refuseWithWay(`cannot ${action}: the item is ${stateOf(item)}`, wayOnOf(item, action), item.id)

/** Throws `invalid_input` about one field. */
export const invalid = (path: string, message: string): never =>
  fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

/** A new item, made of a draft, that waits for approval. */
export const newDraftItem = (draft: Draft, { id, length, now }: { id: string; length: number; now: Date }): Item => ({
  id,
  batch_id: null,
  experiment_id: null,
  arm: null,
  resurfaced_from: null,
  kind: 'post',
  title: null,
  status: 'drafted',
  review: false,
  body: draft.body,
  format: draft.format,
  hook: draft.hook,
  rationale: draft.rationale,
  stories: draft.stories,
  learnings: draft.learnings,
  length,
  post_at: null,
  on_missed: null,
  approved_hash: null,
  account_external_id: null,
  reject_reason: null,
  external_id: null,
  url: null,
  posted_at: null,
  last_error: null,
  tags: [],
  note: null,
  proposed_at: null,
  revision: 1,
  written_by: null,
  written_at: null,
  account_id: null,
  decision: null,
  created_at: now,
  updated_at: now,
})

/** The item with who decided what of it. */
export const decided = (item: Item, what: ItemDecision['what'], { by, now }: { by: Author; now: Date }): Item => ({
  ...item,
  decision: { what, by, at: now },
})
