/**
 * The rows of an item: every insert and every change of one goes through here, so that what is kept
 * beside it follows.
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
  ]
}

const isApproved = ({ approved_hash }: Item): boolean => approved_hash !== null

/**
 * Others must not repeat what is approved, for some time from its approval or from when it is due.
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
 * The statements of a letter see the same rows, so what one of them deletes is nothing that another
 * inserts.
 */
const rewords = (item: Item): Query[] => {
  const words = itemWords(item)
  return [keepWords(item.id, words), insertItemWords(item.id, words)]
}

/**
 * Deletes an item, for which no list looks any longer. `next`: as it will be when it is restored.
 */
/** `before`: as it was; an approved one is a draft again once it is restored. */
export const itemRemoved = (before: Item, next: Item): Query[] => [
  removeItem(next),
  keepWords(next.id, []),
  ...(isApproved(before) && !isApproved(next) ? [dropPrints(next.id, printsOf(before.body))] : []),
]

export const itemRestored = (next: Item): Query[] => [
  restoreItem(next),
  insertItemWords(next.id, itemWords(next)),
]

/** The reason of a rejection as one of the item's comments, of which it has `total`. */
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
