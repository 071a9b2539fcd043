/**
 * An item of content. Its states are in item-states.ts; sending/post.ts describes how it is posted.
 */
import { createHash } from 'node:crypto'
import { itemRecord } from '#contract/records/growth/item'
import type { Marks } from '#contract/records/growth/marks'
import type { RowOf } from '#contract/records/record'

import type { Draft } from './draft.ts'
import type { Author } from './revision.ts'
import type { DraftSource } from './source.ts'

export type Item = RowOf<typeof itemRecord>
export type ItemStatus = Item['status']
export type ItemDecision = NonNullable<Item['decision']>
/**
 * A send's doubt: its cause, who resolves it, and the next read of the timeline. No next read
 * (null): reading is over, or paused.
 */
type ItemDoubt = NonNullable<Item['doubt']>
/** Why the result of a send is unknown. `server_error`: the network answered with a 5xx. */
export type DoubtCause = ItemDoubt['cause']

/**
 * The hash that binds an approval to a text, to what goes out with it, and to the account that
 * sends it.
 */
export const contentHash = (
  body: string,
  accountExternalId: string | null,
  marks: Marks | null = null,
): string =>
  createHash('sha256')
    .update(JSON.stringify({ body, attachments: marks ? [marks] : [], account: accountExternalId }))
    .digest('hex')

/** A new item, made of a draft, that waits for approval. */
export const newDraftItem = (
  draft: Draft,
  { id, length, source, now }: { id: string; length: number; source: DraftSource; now: Date },
): Item => ({
  ...itemRecord.blank,
  ...source,
  id,
  kind: 'post',
  status: 'drafted',
  review: false,
  body: draft.body,
  format: draft.format,
  hook: draft.hook,
  rationale: draft.rationale,
  stories: draft.stories,
  learnings: draft.learnings,
  length,
  tags: [],
  revision: 1,
  created_at: now,
  updated_at: now,
})

/** Who decides. */
export interface DecidedBy {
  by: Author
  /** Who allowed an agent to. */
  allowed_by?: Author | undefined
  now: Date
}

/** A decision as records keep it. */
export const decisionBy = <What extends string>(
  what: What,
  { by, allowed_by, now }: DecidedBy,
) => ({ what, by, ...(allowed_by && { allowed_by }), at: now })

/**
 * The item with who decided on it. Whoever takes it off the schedule has not said what became of it
 * elsewhere.
 */
export const decided = (item: Item, what: ItemDecision['what'], by: DecidedBy): Item => ({
  ...item,
  decision: decisionBy(what, by),
  restored_as_of: what === 'unscheduled' ? item.restored_as_of : null,
})
