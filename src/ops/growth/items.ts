import { items } from '#contract/growth/items'
import { NEXT_SLOT } from '#contract/shapes'
import { weeklyWork } from '#decisions/growth/follow-up'
import { againOf, againWork, endByHand, enqueueSend, rereadEffects, underWay } from '#decisions/growth/send-work'
import { slotFor } from '#decisions/growth/slots'
import { takeCap } from '#domain/app/plan'
import { type ChannelName, channelFor, limitOf } from '#domain/growth/drafting/growth-channel'
import {
  approve,
  type Item,
  itemAnswer,
  itemView,
  markPosted,
  postedEvent,
  reject,
  requestAgain,
  requestPost,
  requireSchedulable,
  schedule,
  unschedule,
} from '#domain/growth/drafting/item'
import type { Connection } from '#domain/growth/sending/connection'
import { fail, found } from '#kernel/errors'
import { limitsFor } from '#port/network/registry'
import { resolvePending } from '#store/engine/idempotency'
import type { Effects } from '#store/engine/letter'
import { when } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import { retitleArticle } from '#store/growth/articles'
import { accountOfRecord } from '#store/growth/attempts'
import { calendarPart } from '#store/growth/calendar'
import { defaultPart } from '#store/growth/connections'
import { channelsPart } from '#store/growth/growth-channels'
import { itemById, itemPart, listItems, saveItem } from '#store/growth/items'
import { profilePart } from '#store/growth/profiles'
import type { AwaitedResult, CommandContext, Handlers } from '../call.ts'
import { loading } from '../loading.ts'
import { pageOf, pageResult } from '../paging.ts'

/** The channels of what is drafted here. */
const drafted: ChannelName[] = ['posts', 'articles']

const the = (item: Item | undefined): Item => found(item, 'no such item')

const replyOf = (item: Item) => ({ item: itemView(item) })
const save = (item: Item, effects: Effects = {}) => ({
  reply: replyOf(item),
  effects: { ...effects, writes: [saveItem(item), ...(effects.writes ?? [])] },
})

export const itemHandlers: Handlers<typeof items> = {
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read(listItems({ ...page, status })), page.limit)
    return { items: rows.map(itemView), next_cursor }
  },

  approve: loading(
    ({ id }) => ({ item: itemPart(id), account: defaultPart, channels: channelsPart(drafted) }),
    ({ edited_body, title }, { gate, networks }, { account, channels, ...loaded }) => {
      const item = the(loaded.item)
      const name = channelFor(item.kind)
      const limits = limitsFor(networks, account)
      const channel = channels.find((one) => one.name === name)
      const rule = { measure: limits.measure, maxLength: limitOf(name, limits), channel }
      const words = { editedBody: edited_body, title }
      const next = approve(item, { ...words, accountExternalId: account?.external_id ?? null, now: gate.now, ...rule })
      return save(next, next.title === item.title ? {} : { writes: [retitleArticle(next)] })
    },
  ),

  reject: loading(
    ({ id }) => ({ item: itemPart(id) }),
    ({ reason }, { gate }, { item }) => save(reject(the(item), reason, gate.now)),
  ),

  schedule: loading(
    ({ id, post_at }) => {
      const isSlot = post_at === NEXT_SLOT
      const slots = { channels: when(isSlot, channelsPart(drafted)), calendar: when(isSlot, calendarPart) }
      return { item: itemPart(id), existing: workFor('send', id), ...slots, profile: when(isSlot, profilePart) }
    },
    ({ post_at, on_missed }, { gate: { now } }, { item: before, existing, channels = [], calendar = [], profile }) => {
      const approved = the(before)
      requireSchedulable(approved)
      const postAt = profile ? slotFor(approved, { channels, calendar, profile: profile.profile, now }) : new Date(post_at)
      const item = schedule(approved, { postAt, onMissed: on_missed ?? null, now })
      return save(item, enqueueSend('post', { record: item, runAt: postAt, origin: 'automatic', existing }))
    },
  ),

  unschedule: loading(
    ({ id }) => ({ item: itemPart(id), work: workFor('send', id) }),
    (_, { gate }, { item, work }) => save(unschedule(the(item), gate.now), work ? { settled: [work.id] } : {}),
  ),

  postNow: {
    begin: loading(
      ({ id, confirm }) => ({
        ...{ item: itemPart(id), account: accountOfRecord({ sendable: 'post', record_id: id }), existing: workFor('send', id) },
        reading: when(confirm !== undefined, workFor('reconcile', id)),
      }),
      ({ confirm }, { gate, principal }, { item: before, account, existing, reading }) => {
        const known = the(before)
        if (confirm && known.status === 'publish_unconfirmed') return beginAgain(known, { gate, principal }, { account, existing, reading })
        const item = requestPost(known, gate.now)
        if (!account) fail('x_not_connected')
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
    ({ id }) => ({ item: itemPart(id), ...underWay({ sendable: 'post', record_id: id }) }),
    ({ id, url }, { gate, tenantId }, { item: before, ...underway }) => {
      const item = markPosted(the(before), url, gate.now)
      const ended = endByHand(underway, { state: 'posted', now: gate.now })
      const body = itemAnswer(item)
      const writes = [resolvePending(id, 200, body), ...ended.writes]
      // Weekly reports start with the first post, however it was posted.
      const weekly = [weeklyWork({ tenantId, now: gate.now })]
      return {
        ...save(item, { ...ended, work: weekly, writes, events: [postedEvent(item)] }),
        answers: [{ refId: id, with: { status: 200, body } }],
      }
    },
  ),
}

interface Reached {
  account: Connection | undefined
  existing: Work | undefined
  reading: Work | undefined
}

/** Requests another post of an item in doubt. The item itself does not change until its timeline has been read. */
const beginAgain = (
  before: Item,
  { gate, principal }: Pick<CommandContext, 'gate' | 'principal'>,
  { account, existing, reading }: Reached,
): AwaitedResult => {
  const item = requestAgain(before, { by: principal.kind, now: gate.now })
  if ((reading && againOf(reading)) || existing) fail('conflict', 'cannot post again: the item is already being posted again')
  if (!account) fail('x_not_connected')
  const capped = takeCap(gate, items.postNow.cap)
  const of = { sendable: 'post', record_id: item.id } as const
  const asked = { origin: 'manual', runAt: gate.now, again: { askedAt: gate.now } } as const
  const work = reading ? rereadEffects(reading, of, asked) : { work: [againWork(of, gate.now)] }
  return { awaits: item.id, effects: { ...work, spend: [capped], writes: [saveItem(item)] } }
}
