import { items } from '#contract/growth/items'
import { NEXT_SLOT } from '#contract/shapes'
import { weeklyWork } from '#decisions/growth/follow-up'
import { againOf, againWork, endByHand, enqueueSend, rereadEffects } from '#decisions/growth/send-work'
import { slotFor } from '#decisions/growth/slots'
import { takeCap } from '#domain/app/plan'
import { channelFor, limitOf } from '#domain/growth/drafting/growth-channel'
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
import { fail } from '#kernel/errors'
import { limitsFor } from '#port/network/registry'
import { resolvePending } from '#store/engine/idempotency'
import type { Effects } from '#store/engine/letter'
import { workOf } from '#store/engine/work'
import { retitleArticle } from '#store/growth/articles'
import { accountFor, currentDefault } from '#store/growth/connections'
import { channelNamed } from '#store/growth/growth-channels'
import { itemById, listItems, lockItem, saveItem } from '#store/growth/items'
import type { AwaitedResult, CommandContext, Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

const replyOf = (item: Item) => ({ item: itemView(item) })
const save = (item: Item, effects: Effects = {}) => ({
  reply: replyOf(item),
  effects: { ...effects, writes: [saveItem(item), ...(effects.writes ?? [])] },
})

export const itemHandlers: Handlers<typeof items> = {
  async list({ status, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<Item>(listItems({ ...page, status })), page.limit)
    return { items: rows.map(itemView), next_cursor }
  },

  async approve({ id, edited_body, title }, { sql, gate, networks }) {
    const item = await lockItem(sql, id)
    const account = await currentDefault(sql)
    const limits = limitsFor(networks, account)
    const channel = await channelNamed(sql, channelFor(item.kind))
    const rule = { measure: limits.measure, maxLength: limitOf(channelFor(item.kind), limits), channel }
    const words = { editedBody: edited_body, title }
    const next = approve(item, { ...words, accountExternalId: account?.external_id ?? null, now: gate.now, ...rule })
    return save(next, next.title === item.title ? {} : { writes: [retitleArticle(next)] })
  },

  reject: async ({ id, reason }, { sql, gate }) => save(reject(await lockItem(sql, id), reason, gate.now)),

  async schedule({ id, post_at, on_missed }, { sql, gate }) {
    const before = await lockItem(sql, id)
    requireSchedulable(before)
    const postAt = post_at === NEXT_SLOT ? await slotFor(before, { sql, now: gate.now }) : new Date(post_at)
    const item = schedule(before, { postAt, onMissed: on_missed ?? null, now: gate.now })
    return save(item, await enqueueSend(sql, 'post', { record: item, runAt: item.post_at!, origin: 'automatic' }))
  },

  async unschedule({ id }, { sql, gate }) {
    const item = unschedule(await lockItem(sql, id), gate.now)
    const work = await workOf(sql, 'send', item.id)
    return save(item, work ? { settled: [work.id] } : {})
  },

  postNow: {
    async begin({ id, confirm }, { sql, gate, principal }) {
      const before = await lockItem(sql, id)
      if (confirm && before.status === 'publish_unconfirmed') return beginAgain(before, { sql, gate, principal })
      const item = requestPost(before, gate.now)
      if (!(await accountFor(sql, item.account_external_id))) fail('x_not_connected')
      const spend = [takeCap(gate, items.postNow.cap)]
      const effects = await enqueueSend(sql, 'post', { record: item, runAt: gate.now, origin: 'manual' })
      return { awaits: item.id, effects: { ...effects, spend, writes: [saveItem(item)] } }
    },
    async currentAnswer({ id }, { read }) {
      const [item] = await read<Item>(itemById(id))
      if (!item) return fail('not_found', 'no such item')
      return { status: item.status === 'posted' ? 200 : 202, body: itemAnswer(item) }
    },
  },

  async markPosted({ id, url }, { sql, gate, tenantId }) {
    const before = await lockItem(sql, id)
    const item = markPosted(before, url, gate.now)
    const ended = await endByHand(sql, { sendable: 'post', record_id: id }, { state: 'posted', now: gate.now })
    const body = itemAnswer(item)
    const writes = [resolvePending(id, 200, body), ...ended.writes]
    // Weekly reports start with the first post, however it was posted.
    const weekly = [weeklyWork({ tenantId, now: gate.now })]
    return {
      ...save(item, { ...ended, work: weekly, writes, events: [postedEvent(item)] }),
      answers: [{ refId: id, with: { status: 200, body } }],
    }
  },
}

/** Requests another post of an item in doubt. The item itself does not change until its timeline has been read. */
const beginAgain = async (
  before: Item,
  { sql, gate, principal }: Pick<CommandContext, 'sql' | 'gate' | 'principal'>,
): Promise<AwaitedResult> => {
  const item = requestAgain(before, { by: principal.kind, now: gate.now })
  const reading = await workOf(sql, 'reconcile', item.id)
  if ((reading && againOf(reading)) || (await workOf(sql, 'send', item.id)))
    fail('conflict', 'cannot post again: the item is already being posted again')
  if (!(await accountFor(sql, item.account_external_id))) fail('x_not_connected')
  const capped = takeCap(gate, items.postNow.cap)
  const of = { sendable: 'post', record_id: item.id } as const
  const asked = { origin: 'manual', runAt: gate.now, again: { askedAt: gate.now } } as const
  const work = reading ? rereadEffects(reading, of, asked) : { work: [againWork(of, gate.now)] }
  return { awaits: item.id, effects: { ...work, spend: [capped], writes: [saveItem(item)] } }
}
