/** The rows of an item: every insert and every change of one goes through here, so that what is kept beside it follows. */
import type { Item } from '#domain/growth/drafting/item'
import { replacedBy } from '#domain/growth/drafting/revision'
import type { Query } from '#store/engine/db'
import { insertItem, saveItem } from '#store/growth/items'
import { insertRevision } from '#store/growth/revisions'

export const itemInserted = (item: Item): Query[] => [insertItem(item)]

/** Saves an item, and keeps the text that the change replaces. */
export const itemSaved = (before: Item, next: Item): Query[] => {
  const replaced = replacedBy(before, next)
  return [saveItem(next), ...(replaced ? [insertRevision(replaced)] : [])]
}
