import { itemTexts } from '#contract/growth/item-texts'
import {
  surroundings,
  type WarningFound,
  warningLoad,
  withWarnings,
} from '#decisions/growth/item-warnings'
import { itemInserted, itemSaved } from '#decisions/growth/item-writes'
import { onItsWay, takeBack } from '#decisions/growth/take-back'
import { takeCap } from '#domain/app/plan'
import { channelFor, requireActive } from '#domain/growth/drafting/growth-channel'
import type { Item } from '#domain/growth/drafting/item'
import {
  duplicateOf,
  edited,
  editOf,
  kindFor,
  ownItem,
  requireRevision,
  requireRoom,
} from '#domain/growth/drafting/item-edits'
import { itemView } from '#domain/growth/drafting/item-view'
import { post } from '#domain/growth/sending/post'
import { found } from '#kernel/errors'
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
import { authorOf } from './shared/author.ts'

const NONE = 'no such item'

/** A draft that a person has asked for, with the event that tells of it. */
const added = (item: Item, { gate, networks }: CommandContext, surrounding: WarningFound) => ({
  reply: { item: itemView(withWarnings(item, surrounding, networks)) },
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
      ...{ drafts: draftCount, ...warningLoad({ id: null, body: input.body }) },
    }),
    (input, context, { account, channel, drafts, ...surrounding }) => {
      const { gate, networks } = context
      requireActive(channel)
      requireRoom(drafts)
      const writing = {
        by: authorOf(context),
        account,
        measure: limitsFor(networks, account).measure,
        now: gate.now,
      }
      return added(
        ownItem(newId(), { ...input, kind: kindFor(input) }, writing),
        context,
        surrounding,
      )
    },
  ),

  edit: loading(
    ({ id, account, body }) => ({
      item: itemPart(id),
      ...warningLoad({ id, body }),
      chosen: when(typeof account === 'string', connectionPart(account!)),
      present: when(account === undefined, accountOfItem(id)),
      fallback: when(account === null, defaultPart),
      ...onItsWay({ sendable: 'post', record_id: id }),
    }),
    (
      { id: _, revision, ...change },
      context,
      { item, chosen, present, fallback, send, attempt, ...surrounding },
    ) => {
      const { gate, networks } = context
      const before = found(item, NONE)
      requireRevision(before, revision, 'growth.items.get')
      const account = chosen ?? present ?? fallback
      const edit = editOf(before, change, account)
      const isOut = edit.isBinding || post.isUnconfirmed(before)
      const back = isOut
        ? takeBack(context, { moves: post, record: before, send, attempt, action: 'edit' })
        : undefined
      const writing = {
        by: authorOf(context),
        account,
        measure: limitsFor(networks, account).measure,
        now: gate.now,
      }
      const next = edited(back?.record ?? before, edit, writing)
      const { effects = {}, answers = [] } = back?.end(next) ?? {}
      const retitled = next.title === before.title ? [] : [retitleArticle(next)]
      const shown = next.status === 'drafted' ? withWarnings(next, surrounding, networks) : next
      return {
        reply: { item: itemView(shown) },
        effects: merge(effects, { writes: [...itemSaved(before, next), ...retitled] }),
        answers,
      }
    },
  ),

  duplicate: loading(
    ({ id }) => ({
      item: itemPart(id),
      account: accountOfItem(id),
      drafts: draftCount,
      ...surroundings,
    }),
    (_, context, { item, account, drafts, ...surrounding }) => {
      const original = found(item, NONE)
      requireRoom(drafts)
      const copy = duplicateOf(original, { id: newId(), account, now: context.gate.now })
      // Whoever copies a text knows that it repeats one.
      return added(copy, context, { ...surrounding, repeats: null })
    },
  ),

  async revisions({ id, ...input }, { read }) {
    const page = numberedPageOf(input)
    const { item, revisions } = await loadBy(read, {
      item: itemPart(id),
      revisions: revisionsOfItem(id, page),
    })
    found(item, NONE)
    const { rows, next_cursor } = numberedResult(revisions, page.limit)
    return { revisions: rows, next_cursor }
  },
}
