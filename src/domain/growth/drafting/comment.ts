/** A comment that the team makes on an item before it is approved. */
import type { commentRecord } from '#contract/records/growth/comment'
import type { RowOf } from '#contract/records/record'
import { fail, refuseField } from '#kernel/errors'
import { refuseNaming } from '../way-on.ts'
import type { Item } from './item.ts'
import type { Author } from './revision.ts'
import { writtenText } from './written-text.ts'

export type Comment = RowOf<typeof commentRecord>

/** The most comments on one item. */
export const MOST_COMMENTS = 500

interface Said {
  item_id: string
  body: string
  by: Author
  /** How many comments the item has. */
  total: number
  now: Date
}

/** Throws `conflict` if the item already has the most comments. */
export const newComment = (id: string, { item_id, body, by, total, now }: Said): Comment => {
  if (body.trim() === '') refuseField('body', 'is empty')
  if (total >= MOST_COMMENTS)
    refuseNaming(
      'limit_reached',
      `cannot comment: the item has ${total} comments, the most that it can have; delete some`,
      'growth.items.comments',
      item_id,
    )
  return {
    id,
    item_id,
    kind: 'comment',
    body: writtenText(body, 'body'),
    written_by: by,
    created_at: now,
  }
}

/**
 * The reason of a rejection as a comment. Undefined if there is no reason, or no room for another
 * comment; the item and the audit log have the reason anyway.
 */
export const rejectionComment = (
  id: string,
  { body, total, ...said }: Said,
): Comment | undefined => {
  if (body.trim() === '' || total >= MOST_COMMENTS) return undefined
  return {
    id,
    item_id: said.item_id,
    kind: 'rejection',
    body,
    written_by: said.by,
    created_at: said.now,
  }
}

/** Whether it holds the reason for which the item is rejected now, not that of an earlier time. */
export const isReasonOf = (
  { status, decision }: Pick<Item, 'status' | 'decision'>,
  { created_at }: Pick<Comment, 'created_at'>,
): boolean =>
  status === 'rejected' &&
  decision?.what === 'rejected' &&
  created_at.getTime() === new Date(decision.at).getTime()

/**
 * Throws `forbidden`: other people's comments can be deleted only by those who answer for the
 * workspace's texts. `personId`: the caller, even if they use a key of their own.
 */
export const requireDeletable = (
  { written_by }: Comment,
  { by, role, personId }: { by: Author; role: string; personId?: string | undefined },
): void => {
  const isPersons = written_by.kind === 'person' && written_by.id === personId
  const isOwn = isPersons || (written_by.kind === by.kind && written_by.id === by.id)
  if (!isOwn && role !== 'owner' && role !== 'approver')
    fail('forbidden', 'only its author, an approver or an owner can delete a comment')
}
