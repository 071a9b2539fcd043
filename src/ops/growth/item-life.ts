import type { itemLife } from '#contract/growth/item-life'
import { warningLoad, withWarnings } from '#decisions/growth/item-warnings'
import { itemRemoved, itemRestored, itemSaved } from '#decisions/growth/item-writes'
import { onItsWay, takeBack } from '#decisions/growth/take-back'
import { decided, type Item } from '#domain/growth/drafting/item'
import { removed, reopen } from '#domain/growth/drafting/item-moves'
import { itemView } from '#domain/growth/drafting/item-view'
import { post } from '#domain/growth/sending/post'
import { found } from '#kernel/errors'
import { merge } from '#store/engine/letter'
import { wasSent } from '#store/growth/attempts'
import { deletedItemPart, itemPart } from '#store/growth/items'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { authorOf } from './shared/author.ts'

const the = (item: Item | undefined): Item => found(item, 'no such item')
const ofItem = (id: string) => ({ sendable: 'post', record_id: id }) as const
const replyOf = (item: Item) => ({ item: itemView(item) })

export const itemLifeHandlers: Handlers<typeof itemLife> = {
  reopen: loading(
    ({ id }) => ({ item: itemPart(id), ...onItsWay(ofItem(id)), ...warningLoad({ id }) }),
    (_, context, { item, send, attempt, ...surroundings }) => {
      const before = the(item)
      if (before.status === 'drafted')
        return {
          reply: replyOf(withWarnings(before, surroundings, context.networks)),
          unchanged: true,
        }
      const back = takeBack(context, {
        moves: post,
        record: before,
        send,
        attempt,
        action: 'reopen',
      })
      const { now } = context.gate
      const next = decided(reopen(back.record, now), 'reopened', { by: authorOf(context), now })
      const { effects, answers } = back.end(next)
      const reply = replyOf(withWarnings(next, surroundings, context.networks))
      return { reply, effects: merge(effects, { writes: itemSaved(before, next) }), answers }
    },
  ),

  remove: loading(
    ({ id }) => ({ item: itemPart(id), ...onItsWay(ofItem(id)), sent: wasSent(ofItem(id)) }),
    (_, context, { item, sent, ...way }) => {
      const before = the(item)
      const { now } = context.gate
      const back = takeBack(context, { moves: post, record: before, ...way, action: 'delete' })
      const next = removed(back.record, { wasSent: sent, now })
      const { effects, answers } = back.end(next)
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
