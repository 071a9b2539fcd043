/**
 * Shared by the operations on one item: the error if it is missing, who decided, what is saved, and
 * what is answered.
 */
import { itemSaved } from '#decisions/growth/item-writes'
import type { TakenBack } from '#decisions/growth/take-back'
import { decided, type Item, type ItemDecision } from '#domain/growth/drafting/item'
import { itemView } from '#domain/growth/drafting/item-view'
import { found } from '#kernel/errors'
import type { Effects } from '#store/engine/letter'
import type { CommandContext } from '../../engine/call.ts'
import { deciderOf, requirePersonFor } from './author.ts'

/** Throws `not_found`. */
export const requireItem = (item: Item | undefined): Item => found(item, 'no such item')

export const itemRef = (id: string) => ({ sendable: 'post', record_id: id }) as const

export const itemReply = (item: Item) => ({ item: itemView(item) })

export const saveItemReply = (before: Item, item: Item, effects: Effects = {}) => ({
  reply: itemReply(item),
  effects: { ...effects, writes: [...itemSaved(before, item), ...(effects.writes ?? [])] },
})

/** Saves an item that was taken back, and ends its send. */
export const saveTakenBackItem = (before: Item, { next, effects, answers }: TakenBack<Item>) => ({
  ...saveItemReply(before, next, effects),
  answers,
})

/** The item with the caller's decision on it. */
export const withItemDecision = (
  context: CommandContext,
  what: ItemDecision['what'],
  item: Item,
): Item => {
  requirePersonFor(context, item)
  return decided(item, what, deciderOf(context))
}
