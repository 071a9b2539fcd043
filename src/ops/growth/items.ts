import type { itemBulk } from '#contract/growth/item-bulk'
import type { items } from '#contract/growth/items'
import { NEXT_SLOT } from '#contract/shapes'
import { surroundings } from '#decisions/growth/item-warnings'
import { rejectionKept } from '#decisions/growth/item-writes'
import { enqueueSend } from '#decisions/growth/send-work'
import { onItsWay, takeBack } from '#decisions/growth/take-back'
import type { Item } from '#domain/growth/drafting/item'
import { approveAsAsked } from '#domain/growth/drafting/item-approval'
import { reject, reopen, unschedule } from '#domain/growth/drafting/item-moves'
import { itemStates } from '#domain/growth/drafting/item-states'
import { timed } from '#domain/growth/drafting/item-timing'
import { post } from '#domain/growth/sending/post'
import { limitsFor } from '#port/network/registry'
import { type Effects, merge } from '#store/engine/letter'
import { when } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import { retitleArticle } from '#store/growth/articles'
import { calendarPart } from '#store/growth/calendar'
import { accountOfItem } from '#store/growth/connections'
import { itemPart } from '#store/growth/items'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { itemBulkHandlers } from './item-bulk.ts'
import { itemCommentHandlers } from './item-comments.ts'
import { itemLifeHandlers } from './item-life.ts'
import { itemListHandlers } from './item-lists.ts'
import { itemPreviewHandlers } from './item-preview.ts'
import { itemReadingHandlers } from './item-reading.ts'
import { itemRedraftHandlers } from './item-redrafts.ts'
import { itemTextHandlers } from './item-texts.ts'
import { authorOf, deciderOf } from './shared/author.ts'
import {
  itemRef,
  itemReply,
  requireItem,
  saveItemReply,
  saveTakenBackItem,
  withItemDecision,
} from './shared/deciding-item.ts'
import { markingBy } from './shared/marking.ts'
import { overtaking } from './shared/overtaking.ts'
import { markItemPosted, postNow, postSoon } from './shared/posting-item.ts'
import { othersIfTaken, takerOf } from './shared/slot.ts'

/** The row of work that posts an item at its time. */
const sendOf = (record: Item, existing: Work | undefined): Effects =>
  record.post_at
    ? enqueueSend('post', { record, runAt: record.post_at, origin: 'automatic', existing })
    : {}

const singleHandlers: Handlers<Omit<typeof items, keyof typeof itemBulk | 'look'>> = {
  ...itemListHandlers,
  ...itemPreviewHandlers,
  ...itemReadingHandlers,
  ...itemLifeHandlers,
  ...itemTextHandlers,
  ...itemRedraftHandlers,
  ...itemCommentHandlers,

  approve: loading(
    ({ id, post_at }) => ({
      item: itemPart(id),
      account: accountOfItem(id),
      existing: when(post_at !== undefined, workFor('send', id)),
      calendar: when(post_at === NEXT_SLOT, calendarPart),
      taker: takerOf(id, { post_at }),
      ...surroundings,
    }),
    async (input, context, { item, existing, ...known }) => {
      const { networks } = context
      const before = requireItem(item)
      const { account, profile } = known
      const next = approveAsAsked(before, input, {
        ...known,
        marking: markingBy(networks, { account, profile }),
        others: await othersIfTaken(context, input, known.taker),
        limits: limitsFor(networks, known.account),
        ...deciderOf(context),
      })
      const retitled = next.title === before.title ? {} : { writes: [retitleArticle(next)] }
      return {
        ...saveItemReply(before, next, merge(retitled, sendOf(next, existing))),
        ...(next.post_at && { auditDetail: { post_at: next.post_at } }),
      }
    },
    ({ id, edited_body: body }) => ({ id, body, isDecided: true }),
  ),

  reject: loading(
    ({ id }) => ({
      item: itemPart(id),
      ...onItsWay(itemRef(id)),
    }),
    ({ reason }, context, { item, ...way }) => {
      const { now } = context.gate
      const before = requireItem(item)
      const taken = {
        moves: post,
        record: before,
        ...way,
        action: 'reject',
        by: authorOf(context),
      } as const
      const back = takeBack(context, taken, (one) => {
        const draft = post.isSending(before) ? reopen(one, now) : one
        return withItemDecision(context, 'rejected', reject(draft, reason, now))
      })
      const comments = before.comments ?? 0
      const kept = rejectionKept(back.next, comments)
      const next = { ...back.next, comments: comments + kept.length }
      return saveTakenBackItem(before, {
        ...back,
        next,
        effects: merge(back.effects, { writes: kept }),
      })
    },
  ),

  schedule: loading(
    ({ id, post_at }) => {
      const calendar = when(post_at === NEXT_SLOT, calendarPart)
      return {
        item: itemPart(id),
        existing: workFor('send', id),
        calendar,
        taker: takerOf(id, { post_at }),
        ...surroundings,
      }
    },
    async (timing, context, { item, existing, ...known }) => {
      const before = requireItem(item)
      const others = await othersIfTaken(context, timing, known.taker)
      const times = { ...known, others, now: context.gate.now }
      const next = withItemDecision(context, 'scheduled', timed(before, timing, times))
      return saveItemReply(before, next, sendOf(next, existing))
    },
    ({ id }) => ({ id, isDecided: true }),
  ),

  unschedule: loading(
    ({ id }) => ({ item: itemPart(id), work: workFor('send', id) }),
    (_, context, { item, work }) => {
      const before = requireItem(item)
      if (itemStates.stateOf(before) === 'approved')
        return { reply: itemReply(before), unchanged: true }
      return saveItemReply(
        before,
        withItemDecision(context, 'unscheduled', unschedule(before, context.gate.now)),
        work ? { settled: [work.id] } : {},
      )
    },
  ),

  postNow,
  markPosted: markItemPosted,
}

const settlingHandlers = overtaking('growth.items', singleHandlers)

export const itemHandlers: Handlers<Omit<typeof items, 'look'>> = {
  ...settlingHandlers,
  ...itemBulkHandlers({
    ...settlingHandlers,
    ...overtaking('growth.items', { postNow: postSoon }),
  }),
}
