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
import { by, refOf, replyOf, saveBack, the } from './shared/deciding-item.ts'

export const itemLifeHandlers: Handlers<typeof itemLife> = {
  reopen: loading(
    ({ id }) => ({ item: itemPart(id), ...onItsWay(refOf(id)), ...warningLoad({ id }) }),
    (_, context, { item, send, attempt, ...surroundings }) => {
      const before = the(item)
      if (before.status === 'drafted')
        return {
          reply: replyOf(withWarnings(before, surroundings, context.networks)),
          unchanged: true,
        }
      const taken = { moves: post, record: before, send, attempt, action: 'reopen' } as const
      const { now } = context.gate
      const back = takeBack(context, taken, (one) => by(context, 'reopened', reopen(one, now)))
      return saveBack(before, {
        ...back,
        next: withWarnings(back.next, surroundings, context.networks),
      })
    },
  ),

  remove: loading(
    ({ id }) => ({ item: itemPart(id), ...onItsWay(refOf(id)), sent: wasSent(refOf(id)) }),
    (_, context, { item, sent, ...way }) => {
      const before = the(item)
      const taken = { moves: post, record: before, ...way, action: 'delete' } as const
      const known = { wasSent: sent, now: context.gate.now }
      const { next, effects, answers } = takeBack(context, taken, (one) => removed(one, known))
      return {
        reply: replyOf(next),
        effects: merge(effects, { writes: itemRemoved(before, next) }),
        answers,
      }
    },
  ),

  restore: loading(
    ({ id }) => ({ item: itemPart(id), deleted: deletedItemPart(id), ...warningLoad({ id }) }),
    (_, { gate: { now }, networks }, { item, deleted, ...surroundings }) => {
      const shown = (one: Item) =>
        replyOf(one.status === 'drafted' ? withWarnings(one, surroundings, networks) : one)
      if (item) return { reply: shown(item), unchanged: true }
      const next = { ...the(deleted), updated_at: now }
      return { reply: shown(next), effects: { writes: itemRestored(next) } }
    },
  ),
}
