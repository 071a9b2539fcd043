/**
 * What people write: their own items, and changes to any item. An approval covers one text, so a
 * changed text becomes a draft again.
 */
import { fail, refuseField } from '#kernel/errors'
import type { Connection } from '../sending/connection.ts'
import { post } from '../sending/post.ts'
import { nextCall, refuseNaming } from '../way-on.ts'
import { channelFor, type GrowthChannelName } from './growth-channel.ts'
import { type DecidedBy, decided, type Item, newDraftItem } from './item.ts'
import { approvedText, reopen } from './item-moves.ts'
import { itemStates } from './item-states.ts'
import { recognisedAgain, recogniseForm } from './recognised.ts'
import { reviseText } from './revision.ts'
import { byAuthor, byItem } from './source.ts'
import { tidyTags, writtenText } from './written-text.ts'

/** As people give it. Absent fields stay; null clears a field. */
export interface ItemChange {
  body?: string | undefined
  title?: string | undefined
  /** The id of a connected account. */
  account?: string | null | undefined
  tags?: string[] | undefined
  note?: string | null | undefined
}

interface Writing extends DecidedBy {
  /** The account to send the item from; undefined if there is none. */
  account: Connection | undefined
  measure(text: string): number
}

/**
 * The kind of item for a channel. Callers may name the channel instead of the kind. Throws
 * `invalid_input` if the two contradict each other.
 */
export const kindFor = ({
  kind,
  channel,
}: {
  kind?: Item['kind'] | undefined
  channel?: GrowthChannelName | undefined
}): Item['kind'] => {
  const meant = kind ?? (channel === 'articles' ? 'article' : 'post')
  if (channel !== undefined && channelFor(meant) !== channel)
    refuseField('channel', `is ${channel}, but the kind is ${meant}`)
  return meant
}

/**
 * With this many drafts in a workspace, no draft can be written or duplicated. It is more than a
 * team reads in years, and a bound for programs that never stop writing. The quota bounds batches;
 * restored, reopened and imported drafts existed before.
 */
export const MOST_DRAFTS = 10_000

/**
 * Throws `conflict` if the workspace has no room for another draft. `drafts`: how many it has,
 * counted up to the bound.
 */
export const requireDraftRoom = (drafts: number): void => {
  if (drafts < MOST_DRAFTS) return
  refuseNaming(
    'limit_reached',
    `cannot add: the workspace has ${MOST_DRAFTS} drafts, the most that it can; approve, reject or delete some first`,
    'growth.items.list',
  )
}

const requireConnected = (
  account: Connection | undefined,
  given: string | null | undefined,
): void => {
  if (typeof given === 'string' && account?.status !== 'connected')
    refuseField('account', 'is no connected account')
}

/**
 * Throws `conflict` if the account chosen for an item is no longer connected: nothing is sent from
 * another account instead.
 */
export const requireChosen = (account: Connection | undefined, action: string): void => {
  if (!account || account.status === 'connected') return
  const state = account.status === 'disconnected' ? 'is disconnected' : 'needs a new sign-in'
  refuseNaming(
    'missing_prerequisite',
    `cannot ${action}: the account chosen for it, @${account.handle}, ${state}; choose another one`,
    'growth.connections.list',
  )
}

const bindingOf = (account: Connection | undefined): Pick<Item, 'posting_account'> => ({
  posting_account: account
    ? { id: account.id, handle: account.handle, network: account.network }
    : null,
})

/** The text of an item after a change, in the form that is stored. */
const textAfter = (
  item: Item,
  { body, title }: Pick<ItemChange, 'body' | 'title'>,
): Pick<Item, 'body' | 'title'> => {
  if (body?.trim() === '') refuseField('body', 'is empty')
  const written = {
    editedBody: body === undefined ? undefined : writtenText(body, 'body'),
    title: title === undefined ? undefined : writtenText(title.trim(), 'title'),
  }
  return approvedText(item, written)
}

const notesAfter = (
  item: Item,
  { tags, note }: Pick<ItemChange, 'tags' | 'note'>,
): Pick<Item, 'tags' | 'note'> => ({
  tags: tags === undefined ? item.tags : tidyTags(tags),
  note:
    note === undefined
      ? item.note
      : note === null || note.trim() === ''
        ? null
        : writtenText(note, 'note'),
})

/** A text that a person wrote, which waits for approval like any other. */
export const ownItem = (
  id: string,
  { kind, ...given }: ItemChange & { kind: Item['kind']; body: string },
  { by, account, measure, now }: Writing,
): Item => {
  requireConnected(account, given.account)
  const nothing = { body: '', format: '', hook: '', rationale: '', stories: [], learnings: [] }
  const source = byAuthor(by)
  const blank: Item = { ...newDraftItem(nothing, { id, length: 0, source, now }), kind }
  const text = textAfter(blank, given)
  return {
    ...blank,
    ...text,
    ...recogniseForm({ kind, body: text.body }),
    ...notesAfter(blank, given),
    ...bindingOf(account),
    length: measure(text.body),
    account_id: given.account ?? null,
    written_by: by,
    written_at: now,
  }
}

/**
 * Throws `conflict` if the text is not the version that the caller has seen. `reading`: the
 * operation that reads the record.
 */
export const requireRevision = (
  {
    id,
    revision,
    written_by: by,
    written_at: at,
  }: Pick<Item, 'id' | 'revision' | 'written_by' | 'written_at'>,
  seen: number | undefined,
  reading: string,
): void => {
  if (seen === undefined || seen === revision) return
  const message = `the present revision is ${revision}`
  const details = [{ path: 'revision', message }, nextCall(reading, id)]
  fail(
    'conflict',
    `the text has changed since revision ${seen}; ${message}; read it before you change it`,
    { reason: 'stale_revision', by, at, details },
  )
}

/** The effect of a change on an item. */
export interface Edit extends Pick<Item, 'body' | 'title' | 'account_id' | 'tags' | 'note'> {
  /** Whether it changes what an approval covers: the text or the account. */
  isBinding: boolean
}

/** Parses a change. Throws `invalid_input`, or `conflict` if the item's state does not allow it. */
export const editOf = (item: Item, change: ItemChange, account: Connection | undefined): Edit => {
  const text = textAfter(item, change)
  const account_id = change.account === undefined ? item.account_id : change.account
  const isBinding =
    text.body !== item.body || text.title !== item.title || account_id !== item.account_id
  // Taking back decides about an item that is on its way or in doubt.
  const isOut = post.isSending(item) || post.isUnconfirmed(item)
  if (isBinding && !isOut) itemStates.next(item, 'edit')
  requireConnected(account, change.account)
  return { ...text, ...notesAfter(item, change), account_id, isBinding }
}

/**
 * The item after a change. If it was approved, a new text, title or account makes it a draft again;
 * tags and note do not.
 */
export const edited = (
  item: Item,
  { isBinding, body, title, ...edit }: Edit,
  { account, measure, ...by }: Writing,
): Item => {
  const { now } = by
  if (!isBinding) return isSame(item, edit) ? item : { ...item, ...edit, updated_at: now }
  const draft =
    item.status === 'approved'
      ? decided(reopen(item, now), 'reopened', by)
      : { ...item, updated_at: now }
  const next = { ...draft, ...bindingOf(account), ...edit }
  if (body === item.body && title === item.title) return next
  const form = recognisedAgain(item, { kind: item.kind, body })
  return reviseText(next, { body, title, ...form, length: measure(body) }, by)
}

const isSame = (item: Item, { note, tags }: Pick<Item, 'note' | 'tags'>): boolean =>
  note === item.note && JSON.stringify(tags) === JSON.stringify(item.tags)

/** A new draft with another item's text. */
export const duplicateOf = (
  item: Item,
  { id, account, now }: { id: string; account: Connection | undefined; now: Date },
): Item => ({
  ...newDraftItem(item, { id, length: item.length, source: byItem(item.id), now }),
  ...bindingOf(account),
  kind: item.kind,
  title: item.title,
  resurfaced_from: item.id,
  tags: item.tags,
  account_id: item.account_id,
  written_by: item.written_by,
  written_at: item.written_at,
})
