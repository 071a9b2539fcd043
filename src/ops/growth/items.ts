import type { itemBulk } from '#contract/growth/item-bulk'
import { items } from '#contract/growth/items'
import { NEXT_SLOT } from '#contract/shapes'
import { type Surroundings, warningLoad, withWarnings } from '#decisions/growth/item-warnings'
import { rejectionKept } from '#decisions/growth/item-writes'
import { enqueueSend } from '#decisions/growth/send-work'
import { slotFor } from '#decisions/growth/slots'
import { onItsWay, takeBack } from '#decisions/growth/take-back'
import { channelFor, limitOf } from '#domain/growth/drafting/growth-channel'
import { type Item, invalid } from '#domain/growth/drafting/item'
import { requireChosen } from '#domain/growth/drafting/item-edits'
import {
  approve,
  reject,
  reopen,
  requireApprovable,
  schedule,
  unschedule,
} from '#domain/growth/drafting/item-moves'
import { itemStates } from '#domain/growth/drafting/item-states'
import type { OnMissed } from '#domain/growth/drafting/profile'
import { rewritten } from '#domain/growth/drafting/revision'
import { post } from '#domain/growth/sending/post'
import { limitsFor } from '#port/network/registry'
import { merge } from '#store/engine/letter'
import { when } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import { retitleArticle } from '#store/growth/articles'
import { type CalendarEntry, calendarPart } from '#store/growth/calendar'
import { commentCount } from '#store/growth/comments'
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
import { authorOf } from './shared/author.ts'
import { by, replyOf, save, the } from './shared/deciding-item.ts'
import { markPosted, postNow } from './shared/posting-item.ts'

interface Timing {
  item: Item
  /** What people ask for. */
  times: { post_at: string; on_missed?: OnMissed | undefined }
  existing: Work | undefined
  calendar: CalendarEntry[] | undefined
}

/** Gives an approved item its time, and a row of work that posts it then. */
const timed = (
  { item, times: { post_at, on_missed }, existing, calendar }: Timing,
  { profile, channels }: Surroundings,
  now: Date,
) => {
  const postAt = calendar
    ? slotFor(item, { channels, calendar, profile: profile.profile, now })
    : new Date(post_at)
  const next = schedule(item, { postAt, onMissed: on_missed ?? null, now })
  return {
    next,
    effects: enqueueSend('post', { record: next, runAt: postAt, origin: 'automatic', existing }),
  }
}

const singleHandlers: Handlers<Omit<typeof items, keyof typeof itemBulk>> = {
  ...itemListHandlers,
  ...itemPreviewHandlers,
  ...itemReadingHandlers,
  ...itemLifeHandlers,
  ...itemTextHandlers,
  ...itemRedraftHandlers,
  ...itemCommentHandlers,

  approve: loading(
    ({ id, edited_body, post_at }) => ({
      ...{
        item: itemPart(id),
        account: accountOfItem(id),
        existing: when(post_at !== undefined, workFor('send', id)),
      },
      ...{
        calendar: when(post_at === NEXT_SLOT, calendarPart),
        ...warningLoad({ id, body: edited_body }),
      },
    }),
    (
      { edited_body, title, expect_hash, post_at, on_missed },
      context,
      { account, item: loaded, existing, calendar, ...surroundings },
    ) => {
      const { gate, networks } = context
      const { now } = gate
      const item = the(loaded)
      requireApprovable(item, expect_hash)
      requireChosen(account, 'approve')
      const name = channelFor(item.kind)
      const limits = limitsFor(networks, account)
      const channel = surroundings.channels.find((one) => one.name === name)
      const rule = { measure: limits.measure, maxLength: limitOf(name, limits), channel }
      const words = { editedBody: edited_body, title }
      const approved = approve(item, {
        ...words,
        accountExternalId: account?.external_id ?? null,
        now,
        ...rule,
      })
      const isEdited = approved.body !== item.body || approved.title !== item.title
      const written = by(
        context,
        'approved',
        isEdited ? rewritten(item, approved, { by: authorOf(context), now }) : approved,
      )
      if (post_at === undefined && on_missed !== undefined)
        invalid('on_missed', 'only applies with post_at')
      const times = post_at === undefined ? undefined : { post_at, on_missed }
      const { next, effects } = times
        ? timed({ item: written, times, existing, calendar }, surroundings, now)
        : { next: written, effects: {} }
      const retitled = next.title === item.title ? {} : { writes: [retitleArticle(next)] }
      const shown = withWarnings(next, surroundings, networks)
      return {
        ...save(item, shown, merge(retitled, effects)),
        ...(times && { auditDetail: { post_at: next.post_at } }),
      }
    },
  ),

  reject: loading(
    ({ id, reason }) => ({
      ...{ item: itemPart(id), ...onItsWay({ sendable: 'post', record_id: id }) },
      comments: when(reason !== undefined, commentCount(id)),
    }),
    ({ reason }, context, { item, comments = 0, ...way }) => {
      const { now } = context.gate
      const before = the(item)
      const back = takeBack(context, { moves: post, record: before, ...way, action: 'reject' })
      const draft = post.isSending(before) ? reopen(back.record, now) : back.record
      const next = by(context, 'rejected', reject(draft, reason, now))
      const { effects, answers } = back.end(next)
      return {
        ...save(before, next, merge(effects, { writes: rejectionKept(next, comments) })),
        answers,
      }
    },
  ),

  schedule: loading(
    ({ id, post_at }) => {
      const calendar = when(post_at === NEXT_SLOT, calendarPart)
      return { item: itemPart(id), existing: workFor('send', id), calendar, ...warningLoad({ id }) }
    },
    (times, context, { item: before, existing, calendar, ...surroundings }) => {
      const approved = the(before)
      itemStates.next(approved, 'schedule')
      const { next, effects } = timed(
        { item: approved, times, existing, calendar },
        surroundings,
        context.gate.now,
      )
      return save(
        approved,
        withWarnings(by(context, 'scheduled', next), surroundings, context.networks),
        effects,
      )
    },
  ),

  unschedule: loading(
    ({ id }) => ({ item: itemPart(id), work: workFor('send', id) }),
    (_, context, { item, work }) => {
      const before = the(item)
      if (itemStates.stateOf(before) === 'approved')
        return { reply: replyOf(before), unchanged: true }
      return save(
        before,
        by(context, 'unscheduled', unschedule(before, context.gate.now)),
        work ? { settled: [work.id] } : {},
      )
    },
  ),

  postNow,
  markPosted,
}

export const itemHandlers: Handlers<typeof items> = {
  ...singleHandlers,
  ...itemBulkHandlers({
    approve: { o: items.approve, name: 'growth.items.approve', decides: singleHandlers.approve },
    reject: { o: items.reject, name: 'growth.items.reject', decides: singleHandlers.reject },
    schedule: {
      o: items.schedule,
      name: 'growth.items.schedule',
      decides: singleHandlers.schedule,
    },
    unschedule: {
      o: items.unschedule,
      name: 'growth.items.unschedule',
      decides: singleHandlers.unschedule,
    },
    reopen: { o: items.reopen, name: 'growth.items.reopen', decides: singleHandlers.reopen },
    delete: { o: items.remove, name: 'growth.items.remove', decides: singleHandlers.remove },
    tag: { o: items.edit, name: 'growth.items.edit', decides: singleHandlers.edit },
  }),
}
