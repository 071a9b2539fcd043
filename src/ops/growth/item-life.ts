import type { itemLife } from '#contract/growth/item-life'
import { warningLoad, withWarnings } from '#decisions/growth/item-warnings'
import { itemRemoved, itemRestored } from '#decisions/growth/item-writes'
import { onItsWay, takeBack } from '#decisions/growth/take-back'
import type { Item } from '#domain/growth/drafting/item'
import { removed, reopen } from '#domain/growth/drafting/item-moves'
import { post } from '#domain/growth/sending/post'
import { merge } from '#store/engine/letter'
import { wasSent } from '#store/growth/attempts'
import { deletedItemPart, itemPart } from '#store/growth/items'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import {
  itemRef,
  itemReply,
  requireItem,
  saveTakenBackItem,
  withItemDecision,
} from './shared/deciding-item.ts'

export const itemLifeHandlers: Handlers<typeof itemLife> = {
  reopen: loading(
    ({ id }) => ({ item: itemPart(id), ...onItsWay(itemRef(id)), ...warningLoad({ id }) }),
    (_, context, { item, send, attempt, ...surroundings }) => {
      const before = requireItem(item)
      if (before.status === 'drafted')
        return {
          reply: itemReply(withWarnings(before, surroundings, context.networks)),
          unchanged: true,
        }
      const taken = { moves: post, record: before, send, attempt, action: 'reopen' } as const
      const { now } = context.gate
      const back = takeBack(context, taken, (one) =>
        withItemDecision(context, 'reopened', reopen(one, now)),
      )
      return saveTakenBackItem(before, {
        ...back,
        next: withWarnings(back.next, surroundings, context.networks),
      })
    },
  ),

  remove: loading(
    ({ id }) => ({ item: itemPart(id), ...onItsWay(itemRef(id)), sent: wasSent(itemRef(id)) }),
    (_, context, { item, sent, ...way }) => {
      const before = requireItem(item)
      const taken = { moves: post, record: before, ...way, action: 'delete' } as const
      const known = { wasSent: sent, now: context.gate.now }
      const { next, effects, answers } = takeBack(context, taken, (one) => removed(one, known))
      return {
        reply: itemReply(next),
        effects: merge(effects, { writes: itemRemoved(before, next) }),
        answers,
      }
    },
  ),

  restore: loading(
    ({ id }) => ({ item: itemPart(id), deleted: deletedItemPart(id), ...warningLoad({ id }) }),
    (_, { gate: { now }, networks }, { item, deleted, ...surroundings }) => {
      const shown = (one: Item) =>
        itemReply(one.status === 'drafted' ? withWarnings(one, surroundings, networks) : one)
      if (item) return { reply: shown(item), unchanged: true }
      const next = { ...requireItem(deleted), updated_at: now }
      return { reply: shown(next), effects: { writes: itemRestored(next) } }
    },
  ),
}
