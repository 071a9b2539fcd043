/**
 * The rows of an item. Every insert and every change goes through here, so that dependent rows
 * follow.
 */
import { rejectionComment } from '#domain/growth/drafting/comment'
import type { Item } from '#domain/growth/drafting/item'
import { hasSameWords, itemWords } from '#domain/growth/drafting/item-words'
import { printsOf } from '#domain/growth/drafting/prints'
import { replacedBy } from '#domain/growth/drafting/revision'
import { newId } from '#kernel/ids'
import type { Query } from '#store/engine/db'
import { insertComment } from '#store/growth/comments'
import { dropPrints, keepPrints } from '#store/growth/item-prints'
import { insertItemWords, keepWords } from '#store/growth/item-words'
import { insertItem, removeItem, restoreItem, saveItem } from '#store/growth/items'
import { keepRevision } from '#store/growth/revisions'
import { postedElsewhere } from './restored.ts'

export const itemInserted = (item: Item): Query[] => [
  insertItem(item),
  insertItemWords(item.id, itemWords(item)),
]

/** Saves an item, and keeps the text that the change replaces. */
export const itemSaved = (before: Item, next: Item): Query[] => {
  const replaced = replacedBy(before, next)
  return [
    saveItem(next, before.body === next.body ? undefined : printsOf(next.body)),
    ...(replaced ? keepRevision(replaced) : []),
    ...(hasSameWords(before, next) ? [] : rewords(next)),
    ...printsSaved(before, next),
    ...postedElsewhere(before, next),
  ]
}

const isApproved = ({ approved_hash }: Item): boolean => approved_hash !== null

/**
 * Other texts must not repeat an approved one for some time after its approval, or after it is due.
 */
const printsSaved = (before: Item, next: Item): Query[] => {
  if (isApproved(before) && !isApproved(next)) return [dropPrints(next.id, printsOf(before.body))]
  const isMoved = next.post_at !== null && next.post_at.getTime() !== before.post_at?.getTime()
  if (!isApproved(next) || (isApproved(before) && !isMoved)) return []
  return [
    keepPrints({
      itemId: next.id,
      prints: printsOf(next.body),
      from: next.post_at ?? next.updated_at,
    }),
  ]
}

/**
 * All statements of a letter see the same rows, so no statement may delete what another inserts.
 */
const rewords = (item: Item): Query[] => {
  const words = itemWords(item)
  return [keepWords(item.id, words), insertItemWords(item.id, words)]
}

/**
 * Deletes an item with its words, so that no list finds it any more. `before`: the item as it was.
 * `next`: the item as it would be restored; an approved one becomes a draft.
 */
export const itemRemoved = (before: Item, next: Item): Query[] => [
  removeItem(next),
  keepWords(next.id, []),
  ...(isApproved(before) && !isApproved(next) ? [dropPrints(next.id, printsOf(before.body))] : []),
]

export const itemRestored = (next: Item): Query[] => [
  restoreItem(next),
  insertItemWords(next.id, itemWords(next)),
]

/** Keeps the reason of a rejection as one of the item's comments, of which there are `total`. */
export const rejectionKept = (
  { id, reject_reason, decision, updated_at }: Item,
  total: number,
): Query[] => {
  if (reject_reason === null || !decision) return []
  const comment = rejectionComment(newId(), {
    item_id: id,
    body: reject_reason,
    by: decision.by,
    total,
    now: updated_at,
  })
  return comment ? [insertComment(comment)] : []
}
