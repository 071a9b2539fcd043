import type { itemLife } from '#contract/growth/item-life'
import { itemRemoved, itemRestored } from '#decisions/growth/item-writes'
import { onItsWay, takeBack } from '#decisions/growth/take-back'
import { isReasonOf } from '#domain/growth/drafting/comment'
import { removed, reopen } from '#domain/growth/drafting/item-moves'
import { post } from '#domain/growth/sending/post'
import { merge } from '#store/engine/letter'
import { wasSent } from '#store/growth/attempts'
import { deleteComment, newestRejection } from '#store/growth/comments'
import { deletedItemPart, itemPart } from '#store/growth/items'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { authorOf } from './shared/author.ts'
import {
  itemRef,
  itemReply,
  requireItem,
  saveTakenBackItem,
  withItemDecision,
} from './shared/deciding-item.ts'

export const itemLifeHandlers: Handlers<typeof itemLife> = {
  reopen: loading(
    ({ id }) => ({
      item: itemPart(id),
      rejection: newestRejection(id),
      ...onItsWay(itemRef(id)),
    }),
    (_, context, { item, rejection, ...way }) => {
      const before = requireItem(item)
      if (before.status === 'drafted') return { reply: itemReply(before), unchanged: true }
      const taken = {
        moves: post,
        record: before,
        ...way,
        action: 'reopen',
        by: authorOf(context),
      } as const
      const { now } = context.gate
      const back = takeBack(context, taken, (one) =>
        withItemDecision(context, 'reopened', reopen(one, now)),
      )
      const withdrawn =
        rejection && isReasonOf(before, rejection) ? [deleteComment(rejection.id)] : []
      return saveTakenBackItem(before, {
        ...back,
        next: { ...back.next, comments: (before.comments ?? 0) - withdrawn.length },
        effects: merge(back.effects, { writes: withdrawn }),
      })
    },
    ({ id }) => ({ id }),
  ),

  remove: loading(
    ({ id }) => ({ item: itemPart(id), ...onItsWay(itemRef(id)), sent: wasSent(itemRef(id)) }),
    (_, context, { item, sent, ...way }) => {
      const before = requireItem(item)
      const taken = {
        moves: post,
        record: before,
        ...way,
        action: 'delete',
        by: authorOf(context),
      } as const
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
    ({ id }) => ({ item: itemPart(id), deleted: deletedItemPart(id) }),
    (_, { gate: { now } }, { item, deleted }) => {
      if (item) return { reply: itemReply(item), unchanged: true }
      const next = { ...requireItem(deleted), updated_at: now }
      return { reply: itemReply(next), effects: { writes: itemRestored(next) } }
    },
    ({ id }) => ({ id }),
  ),
}
