import type { itemBulk } from '#contract/growth/item-bulk'
import { items } from '#contract/growth/items'
import { NEXT_SLOT } from '#contract/shapes'
import { weeklyWork } from '#decisions/growth/follow-up'
import { type Surroundings, warningLoad, withWarnings } from '#decisions/growth/item-warnings'
import { itemSaved, rejectionKept } from '#decisions/growth/item-writes'
import { notConnected } from '#decisions/growth/not-connected'
import { postedReadWork } from '#decisions/growth/posted-read'
import { againOf, againWork, endByHand, enqueueSend, rereadEffects, underWay } from '#decisions/growth/send-work'
import { slotFor } from '#decisions/growth/slots'
import { onItsWay, takeBack } from '#decisions/growth/take-back'
import { takeCap } from '#domain/app/plan'
import { channelFor, limitOf } from '#domain/growth/drafting/growth-channel'
import { decided, type Item, type ItemDecision, invalid } from '#domain/growth/drafting/item'
import { requireChosen } from '#domain/growth/drafting/item-edits'
import {
  approve,
  isUnscheduled,
  markPosted,
  postedEvent,
  reject,
  reopen,
  requestAgain,
  requestPost,
  requireApprovable,
  requireSchedulable,
  schedule,
  unschedule,
} from '#domain/growth/drafting/item-moves'
import { itemAnswer, itemView } from '#domain/growth/drafting/item-view'
import type { OnMissed } from '#domain/growth/drafting/profile'
import { rewritten } from '#domain/growth/drafting/revision'
import type { Connection } from '#domain/growth/sending/connection'
import { post } from '#domain/growth/sending/post'
import { fail, found } from '#kernel/errors'
import { limitsFor } from '#port/network/registry'
import { resolvePending } from '#store/engine/idempotency'
import { type Effects, merge } from '#store/engine/letter'
import { when } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import { retitleArticle } from '#store/growth/articles'
import { accountOfRecord } from '#store/growth/attempts'
import { type CalendarEntry, calendarPart } from '#store/growth/calendar'
import { commentCount } from '#store/growth/comments'
import { accountOfItem } from '#store/growth/connections'
import { itemById, itemPart, saveItem } from '#store/growth/items'
import type { AwaitedResult, CommandContext, Handlers } from '../engine/call.ts'
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

const the = (item: Item | undefined): Item => found(item, 'no such item')

const replyOf = (item: Item) => ({ item: itemView(item) })
const save = (before: Item, item: Item, effects: Effects = {}) => ({
  reply: replyOf(item),
  effects: { ...effects, writes: [...itemSaved(before, item), ...(effects.writes ?? [])] },
})

/** The item with the caller's decision on it. */
const by = (context: CommandContext, what: ItemDecision['what'], item: Item): Item =>
  decided(item, what, { by: authorOf(context), now: context.gate.now })

interface Timing {
  item: Item
  /** What people ask for. */
  times: { post_at: string; on_missed?: OnMissed | undefined }
  existing: Work | undefined
  calendar: CalendarEntry[] | undefined
}

/** Gives an approved item its time, and a row of work that posts it then. */
const timed = ({ item, times: { post_at, on_missed }, existing, calendar }: Timing, { profile, channels }: Surroundings, now: Date) => {
  const postAt = calendar ? slotFor(item, { channels, calendar, profile: profile.profile, now }) : new Date(post_at)
  const next = schedule(item, { postAt, onMissed: on_missed ?? null, now })
  return { next, effects: enqueueSend('post', { record: next, runAt: postAt, origin: 'automatic', existing }) }
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
      ...{ item: itemPart(id), account: accountOfItem(id), existing: when(post_at !== undefined, workFor('send', id)) },
      ...{ calendar: when(post_at === NEXT_SLOT, calendarPart), ...warningLoad({ id, body: edited_body }) },
    }),
    ({ edited_body, title, expect_hash, post_at, on_missed }, context, { account, item: loaded, existing, calendar, ...surroundings }) => {
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
      const approved = approve(item, { ...words, accountExternalId: account?.external_id ?? null, now, ...rule })
      const isEdited = approved.body !== item.body || approved.title !== item.title
      const written = by(context, 'approved', isEdited ? rewritten(item, approved, { by: authorOf(context), now }) : approved)
      if (post_at === undefined && on_missed !== undefined) invalid('on_missed', 'only applies with post_at')
      const times = post_at === undefined ? undefined : { post_at, on_missed }
      const { next, effects } = times
        ? timed({ item: written, times, existing, calendar }, surroundings, now)
        : { next: written, effects: {} }
      const retitled = next.title === item.title ? {} : { writes: [retitleArticle(next)] }
      const shown = withWarnings(next, surroundings, networks)
      return { ...save(item, shown, merge(retitled, effects)), ...(times && { auditDetail: { post_at: next.post_at } }) }
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
      return { ...save(before, next, merge(effects, { writes: rejectionKept(next, comments) })), answers }
    },
  ),

  schedule: loading(
    ({ id, post_at }) => {
      const calendar = when(post_at === NEXT_SLOT, calendarPart)
      return { item: itemPart(id), existing: workFor('send', id), calendar, ...warningLoad({ id }) }
    },
    (times, context, { item: before, existing, calendar, ...surroundings }) => {
      const approved = the(before)
      requireSchedulable(approved)
      const { next, effects } = timed({ item: approved, times, existing, calendar }, surroundings, context.gate.now)
      return save(approved, withWarnings(by(context, 'scheduled', next), surroundings, context.networks), effects)
    },
  ),

  unschedule: loading(
    ({ id }) => ({ item: itemPart(id), work: workFor('send', id) }),
    (_, context, { item, work }) => {
      const before = the(item)
      if (isUnscheduled(before)) return { reply: replyOf(before), unchanged: true }
      return save(before, by(context, 'unscheduled', unschedule(before, context.gate.now)), work ? { settled: [work.id] } : {})
    },
  ),

  postNow: {
    begin: loading(
      ({ id, confirm }) => ({
        ...{ item: itemPart(id), account: accountOfRecord({ sendable: 'post', record_id: id }), existing: workFor('send', id) },
        reading: when(confirm !== undefined, workFor('reconcile', id)),
      }),
      async ({ confirm }, context, { item: before, account, existing, reading }) => {
        const { gate } = context
        const known = the(before)
        if (confirm && known.status === 'publish_unconfirmed') return beginAgain(known, context, { account, existing, reading })
        const item = by(context, 'post_requested', requestPost(known, gate.now))
        if (!account) throw await notConnected(context.sql, { about: { moves: post, record: item } })
        const spend = [takeCap(gate, items.postNow.cap)]
        const effects = enqueueSend('post', { record: item, runAt: gate.now, origin: 'manual', existing })
        return { awaits: item.id, effects: { ...effects, spend, writes: [saveItem(item)] } }
      },
    ),
    async currentAnswer({ id }, { read }) {
      const [item] = await read(itemById(id))
      return { status: item?.status === 'posted' ? 200 : 202, body: itemAnswer(the(item)) }
    },
  },

  markPosted: loading(
    ({ id, url }) => {
      const of = { sendable: 'post', record_id: id } as const
      return { item: itemPart(id), account: when(url !== undefined, accountOfRecord(of)), ...underWay(of) }
    },
    ({ id, url }, context, { item: before, account, ...underway }) => {
      const { gate, tenantId } = context
      const item = by(context, 'marked_posted', markPosted(the(before), url, gate.now))
      const ended = endByHand(underway, { state: 'posted', now: gate.now })
      const body = itemAnswer(item)
      const writes = [resolvePending(id, 200, body), ...ended.writes]
      // Weekly reports start with the first post, however it was posted.
      const weekly = [weeklyWork({ tenantId, now: gate.now })]
      const isReadable = url !== undefined && account && context.networks.named(account.network)?.postIdIn(url) !== undefined
      const reading = isReadable ? [postedReadWork({ tenantId, itemId: id, now: gate.now })] : []
      return {
        ...save(the(before), item, { ...ended, work: [...weekly, ...reading], writes, events: [postedEvent(item)] }),
        answers: [{ refId: id, with: { status: 200, body } }],
      }
    },
  ),
}

export const itemHandlers: Handlers<typeof items> = {
  ...singleHandlers,
  ...itemBulkHandlers({
    approve: { o: items.approve, name: 'growth.items.approve', decides: singleHandlers.approve },
    reject: { o: items.reject, name: 'growth.items.reject', decides: singleHandlers.reject },
    schedule: { o: items.schedule, name: 'growth.items.schedule', decides: singleHandlers.schedule },
    unschedule: { o: items.unschedule, name: 'growth.items.unschedule', decides: singleHandlers.unschedule },
    reopen: { o: items.reopen, name: 'growth.items.reopen', decides: singleHandlers.reopen },
    delete: { o: items.remove, name: 'growth.items.remove', decides: singleHandlers.remove },
    tag: { o: items.edit, name: 'growth.items.edit', decides: singleHandlers.edit },
  }),
}

interface Reached {
  account: Connection | undefined
  existing: Work | undefined
  reading: Work | undefined
}

/** Requests another post of an item in doubt. The item itself does not change until its timeline has been read. */
const beginAgain = async (before: Item, context: CommandContext, { account, existing, reading }: Reached): Promise<AwaitedResult> => {
  const { gate, principal } = context
  const item = by(context, 'post_requested', requestAgain(before, { by: principal.kind, now: gate.now }))
  if ((reading && againOf(reading)) || existing) fail('conflict', 'cannot post again: the item is already being posted again')
  if (!account) throw await notConnected(context.sql, { about: { moves: post, record: item } })
  const capped = takeCap(gate, items.postNow.cap)
  const of = { sendable: 'post', record_id: item.id } as const
  const asked = { origin: 'manual', runAt: gate.now, again: { askedAt: gate.now } } as const
  const work = reading ? rereadEffects(reading, of, asked) : { work: [againWork(of, gate.now)] }
  return { awaits: item.id, effects: { ...work, spend: [capped], writes: [saveItem(item)] } }
}
