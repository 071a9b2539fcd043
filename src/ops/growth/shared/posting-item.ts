/** Posts an item: by the server, again if it is in doubt, or by hand. */
import { items } from '#contract/growth/items'
import { weeklyWork } from '#decisions/growth/follow-up'
import { itemSaved } from '#decisions/growth/item-writes'
import { notConnected } from '#decisions/growth/not-connected'
import { postedReadWork } from '#decisions/growth/posted-read'
import {
  againOf,
  againWork,
  endByHand,
  enqueueSend,
  rereadEffects,
  underWay,
} from '#decisions/growth/send-work'
import { takeCap } from '#domain/app/plan'
import type { Item } from '#domain/growth/drafting/item'
import {
  markPosted as markedPosted,
  postedEvent,
  requestAgain,
  requestPost,
} from '#domain/growth/drafting/item-moves'
import { itemAnswer } from '#domain/growth/drafting/item-view'
import type { Connection } from '#domain/growth/sending/connection'
import { post } from '#domain/growth/sending/post'
import { fail } from '#kernel/errors'
import { resolvePending } from '#store/engine/idempotency'
import { when } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import { accountOfRecord } from '#store/growth/attempts'
import { itemById, itemPart, saveItem } from '#store/growth/items'
import type { AwaitedResult, CommandContext, Handlers } from '../../engine/call.ts'
import { loading } from '../../engine/loading.ts'
import { itemReply, requireItem, saveItemReply, withItemDecision } from './deciding-item.ts'

interface Reached {
  account: Connection | undefined
  existing: Work | undefined
  reading: Work | undefined
}

/**
 * Requests another post of an item in doubt. The item itself does not change until its timeline has
 * been read.
 */
const beginAgain = async (
  before: Item,
  context: CommandContext,
  { account, existing, reading }: Reached,
): Promise<AwaitedResult> => {
  const { gate, principal } = context
  const item = withItemDecision(
    context,
    'post_requested',
    requestAgain(before, { by: principal.kind, now: gate.now }),
  )
  if ((reading && againOf(reading)) || existing)
    fail('conflict', 'cannot post again: the item is already being posted again', {
      reason: 'in_flight',
    })
  if (!account) throw await notConnected(context.sql, { about: { moves: post, record: item } })
  const capped = takeCap(gate, items.postNow.cap)
  const of = { sendable: 'post', record_id: item.id } as const
  const asked = { origin: 'manual', runAt: gate.now, again: { askedAt: gate.now } } as const
  const work = reading ? rereadEffects(reading, of, asked) : { work: [againWork(of, gate.now)] }
  return { awaits: item.id, effects: { ...work, spend: [capped], writes: [saveItem(item)] } }
}

/** Requests the post of an approved item. Throws before anything is changed. */
const requestNow = async (
  known: Item,
  context: CommandContext,
  { account, existing }: Pick<Reached, 'account' | 'existing'>,
) => {
  const { gate } = context
  const item = withItemDecision(context, 'post_requested', requestPost(known, gate.now))
  if (!account) throw await notConnected(context.sql, { about: { moves: post, record: item } })
  const spend = [takeCap(gate, items.postNow.cap)]
  const effects = enqueueSend('post', {
    record: item,
    runAt: gate.now,
    origin: 'manual',
    existing,
  })
  return { item, effects: { ...effects, spend, writes: itemSaved(known, item) } }
}

const postLoad = ({ id }: { id: string }) => ({
  item: itemPart(id),
  account: accountOfRecord({ sendable: 'post', record_id: id }),
  existing: workFor('send', id),
})

export const postNow: Handlers<typeof items>['postNow'] = {
  begin: loading(
    ({ id, confirm }) => ({
      ...postLoad({ id }),
      reading: when(confirm !== undefined, workFor('reconcile', id)),
    }),
    async ({ confirm }, context, { item: before, reading, ...reached }) => {
      const known = requireItem(before)
      if (confirm && known.status === 'publish_unconfirmed')
        return beginAgain(known, context, { ...reached, reading })
      const { item, effects } = await requestNow(known, context, reached)
      return { awaits: item.id, effects }
    },
  ),
  async currentAnswer({ id }, { read }) {
    const [item] = await read(itemById(id))
    return { status: item?.status === 'posted' ? 200 : 202, body: itemAnswer(requireItem(item)) }
  },
}

/** The same without waiting for the network: the answer is the item on its way. */
export const postSoon = loading(
  postLoad,
  async (_: { id: string }, context, { item: before, ...reached }) => {
    const { item, effects } = await requestNow(requireItem(before), context, reached)
    return { reply: itemReply(item), effects }
  },
)

export const markItemPosted: Handlers<typeof items>['markPosted'] = loading(
  ({ id, url }) => {
    const of = { sendable: 'post', record_id: id } as const
    return {
      item: itemPart(id),
      account: when(url !== undefined, accountOfRecord(of)),
      ...underWay(of),
    }
  },
  ({ id, url }, context, { item: before, account, ...underway }) => {
    const { gate, tenantId } = context
    const item = withItemDecision(
      context,
      'marked_posted',
      markedPosted(requireItem(before), url, gate.now),
    )
    const ended = endByHand(underway, { state: 'posted', now: gate.now })
    const body = itemAnswer(item)
    const writes = [resolvePending(id, 200, body), ...ended.writes]
    // Weekly reports start with the first post, whoever posted it.
    const weekly = [weeklyWork({ tenantId, now: gate.now })]
    const isReadable =
      url !== undefined &&
      account &&
      context.networks.named(account.network)?.postIdIn(url) !== undefined
    const reading = isReadable ? [postedReadWork({ tenantId, itemId: id, now: gate.now })] : []
    return {
      ...saveItemReply(requireItem(before), item, {
        ...ended,
        work: [...weekly, ...reading],
        writes,
        events: [postedEvent(item)],
      }),
      answers: [{ refId: id, with: { status: 200, body } }],
    }
  },
)
