import { itemTexts } from '#contract/growth/item-texts'
import { itemInserted } from '#decisions/growth/item-writes'
import { onItsWay, takeBack } from '#decisions/growth/take-back'
import { takeCap } from '#domain/app/plan'
import { channelFor, requireActiveChannel } from '#domain/growth/drafting/growth-channel'
import type { Item } from '#domain/growth/drafting/item'
import {
  duplicateOf,
  edited,
  editOf,
  kindFor,
  ownItem,
  requireDraftRoom,
  requireRevision,
} from '#domain/growth/drafting/item-edits'
import { post } from '#domain/growth/sending/post'
import { newId } from '#kernel/ids'
import { limitsFor } from '#port/network/registry'
import { merge } from '#store/engine/letter'
import { loadBy, when } from '#store/engine/load'
import { retitleArticle } from '#store/growth/articles'
import { accountOfItem, connectionPart, defaultPart } from '#store/growth/connections'
import { channelPart } from '#store/growth/growth-channels'
import { draftCount, itemPart } from '#store/growth/items'
import { revisionsOfItem } from '#store/growth/revisions'
import type { CommandContext, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { numberedPageOf, numberedResult } from '../engine/paging.ts'
import { authorOf, deciderOf } from './shared/author.ts'
import { itemRef, itemReply, requireItem, saveTakenBackItem } from './shared/deciding-item.ts'

/** A draft that a person asked for, with its event. */
const added = (item: Item, { gate }: CommandContext) => ({
  reply: itemReply(item),
  refId: item.id,
  effects: {
    spend: [takeCap(gate, itemTexts.create.cap)],
    writes: itemInserted(item),
    events: [{ type: 'growth.approval.requested', data: { kind: 'item', item_id: item.id } }],
  },
})

export const itemTextHandlers: Handlers<typeof itemTexts> = {
  create: loading(
    (input) => ({
      account: input.account === undefined ? defaultPart : connectionPart(input.account),
      channel: channelPart(channelFor(kindFor(input))),
      drafts: draftCount,
    }),
    (input, context, { account, channel, drafts }) => {
      const { gate, networks } = context
      requireActiveChannel(channel)
      requireDraftRoom(drafts)
      const writing = {
        by: authorOf(context),
        account,
        measure: limitsFor(networks, account).measure,
        now: gate.now,
      }
      return added(ownItem(newId(), { ...input, kind: kindFor(input) }, writing), context)
    },
    ({ body }) => ({ id: null, body }),
  ),

  edit: loading(
    ({ id, account }) => ({
      item: itemPart(id),
      chosen: when(typeof account === 'string', connectionPart(account!)),
      present: when(account === undefined, accountOfItem(id)),
      fallback: when(account === null, defaultPart),
      ...onItsWay(itemRef(id)),
    }),
    ({ id: _, revision, ...change }, context, { item, chosen, present, fallback, ...way }) => {
      const { networks } = context
      const before = requireItem(item)
      requireRevision(before, revision, 'growth.items.get')
      const account = chosen ?? present ?? fallback
      const edit = editOf(before, change, account)
      const writing = {
        ...deciderOf(context),
        account,
        measure: limitsFor(networks, account).measure,
      }
      const decide = (one: Item) => edited(one, edit, writing)
      const taken = {
        moves: post,
        record: before,
        ...way,
        action: 'edit',
        by: authorOf(context),
      } as const
      const back =
        edit.isBinding || post.isUnconfirmed(before)
          ? takeBack(context, taken, decide)
          : { next: decide(before), effects: {}, answers: [] }
      const { next } = back
      const retitled = next.title === before.title ? [] : [retitleArticle(next)]
      return saveTakenBackItem(before, {
        ...back,
        effects: merge(back.effects, { writes: retitled }),
      })
    },
    ({ id, body }) => ({ id, body }),
  ),

  duplicate: loading(
    ({ id }) => ({ item: itemPart(id), account: accountOfItem(id), drafts: draftCount }),
    (_, context, { item, account, drafts }) => {
      const original = requireItem(item)
      requireDraftRoom(drafts)
      return added(duplicateOf(original, { id: newId(), account, now: context.gate.now }), context)
    },
    // A person who copies a text knows that it repeats one.
    () => ({ id: null }),
  ),

  async revisions({ id, ...input }, { read }) {
    const page = numberedPageOf(input)
    const { item, revisions } = await loadBy(read, {
      item: itemPart(id),
      revisions: revisionsOfItem(id, page),
    })
    requireItem(item)
    const { rows, next_cursor } = numberedResult(revisions, page.limit)
    return { revisions: rows, next_cursor }
  },
}
