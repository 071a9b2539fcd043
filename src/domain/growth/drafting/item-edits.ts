/** What people write: their own items, and changes of any. An approval covers one text, so a changed text is a draft again. */
import { fail } from '#kernel/errors'
import type { Connection } from '../sending/connection.ts'
import { type ChannelName, channelFor } from './growth-channel.ts'
import { decided, type Item, invalid, newDraftItem, stateOf } from './item.ts'
import { approvedText } from './item-moves.ts'
import { recognised, recognisedAgain } from './recognised.ts'
import { type Author, rewritten } from './revision.ts'
import { tidyTags, writtenText } from './written-text.ts'

/** As people give it. Absent fields stay; null clears. */
export interface ItemChange {
  body?: string | undefined
  title?: string | undefined
  /** The id of a connected account. */
  account?: string | null | undefined
  tags?: string[] | undefined
  note?: string | null | undefined
}

interface Writing {
  by: Author
  /** The account that the item is to go out from; undefined if there is none. */
  account: Connection | undefined
  measure(text: string): number
  now: Date
}

/** The kind of item for a channel, which may be given in its place. Throws `invalid_input` where the two contradict each other. */
export const kindFor = ({ kind, channel }: { kind?: Item['kind'] | undefined; channel?: ChannelName | undefined }): Item['kind'] => {
  const meant = kind ?? (channel === 'articles' ? 'article' : 'post')
  if (channel !== undefined && channelFor(meant) !== channel) invalid('channel', `is ${channel}, but the kind is ${meant}`)
  return meant
}

const requireConnected = (account: Connection | undefined, given: string | null | undefined): void => {
  if (typeof given === 'string' && account?.status !== 'connected') invalid('account', 'is no connected account')
}

/** Throws `conflict` if the account that was chosen for an item is not connected any more: nothing goes out from another one instead. */
export const requireChosen = (account: Connection | undefined, action: string): void => {
  if (account?.status !== 'disconnected') return
  fail('conflict', `cannot ${action}: the account chosen for it, @${account.handle}, is disconnected; choose another one`)
}

const bindingOf = (account: Connection | undefined): Pick<Item, 'posting_account'> => ({
  posting_account: account ? { id: account.id, handle: account.handle, network: account.network } : null,
})

/** The text of an item after a change, in the form in which it is kept. */
const textAfter = (item: Item, { body, title }: Pick<ItemChange, 'body' | 'title'>): Pick<Item, 'body' | 'title'> => {
  if (body?.trim() === '') invalid('body', 'is empty')
  const written = {
    editedBody: body === undefined ? undefined : writtenText(body, 'body'),
    title: title === undefined ? undefined : writtenText(title.trim(), 'title'),
  }
  return approvedText(item, written)
}

const notesAfter = (item: Item, { tags, note }: Pick<ItemChange, 'tags' | 'note'>): Pick<Item, 'tags' | 'note'> => ({
  tags: tags === undefined ? item.tags : tidyTags(tags),
  note: note === undefined ? item.note : note === null || note.trim() === '' ? null : writtenText(note, 'note'),
})

/** A person's own text, which waits for approval like any other. */
export const ownItem = (
  id: string,
  { kind, ...given }: ItemChange & { kind: Item['kind']; body: string },
  { by, account, measure, now }: Writing,
): Item => {
  requireConnected(account, given.account)
  const nothing = { body: '', format: '', hook: '', rationale: '', stories: [], learnings: [] }
  const blank: Item = { ...newDraftItem(nothing, { id, length: 0, now }), kind }
  const text = textAfter(blank, given)
  return {
    ...blank,
    ...text,
    ...recognised({ kind, body: text.body }),
    ...notesAfter(blank, given),
    ...bindingOf(account),
    length: measure(text.body),
    account_id: given.account ?? null,
    written_by: by,
    written_at: now,
  }
}

const waysOn: Partial<Record<Item['status'], string>> = {
  posted: 'duplicate it to write another',
  rejected: 'reopen it first',
  publish_failed: 'reopen it first',
}

/** Throws `conflict` unless the item is a draft, or would be one if its approval were withdrawn. */
const requireEditable = (item: Item): void => {
  if (item.status === 'drafted' || item.status === 'approved') return
  const now = item.status === 'publishing' ? 'being posted' : stateOf(item)
  const details = item.status === 'publishing' ? [{ path: 'in_flight', message: 'it is being posted' }] : undefined
  const way = waysOn[item.status]
  fail('conflict', `cannot edit: the item is ${now}${way ? `; ${way}` : ''}`, details ? { details } : {})
}

/**
 * Refuses what would change an item that may already be on the network. Only a person who has looked there can go on: with `posted`, with
 * `post-now` and `post_again`, or with a duplicate.
 */
export const refuseInDoubt = (item: Item, action: string): void => {
  if (item.status !== 'publish_unconfirmed') return
  const ways = 'mark it posted if it is there, confirm post_again if it is not, or duplicate it'
  fail('conflict', `cannot ${action}: the item is ${stateOf(item)} and may already be on the network; check there, and ${ways}`)
}

/** As a draft again: its approval, its account and its time are gone, and the time is kept as a proposal. */
export const asDraft = (item: Item, now: Date): Item => ({
  ...item,
  status: 'drafted',
  proposed_at: item.post_at ?? item.proposed_at,
  post_at: null,
  on_missed: null,
  approved_hash: null,
  account_external_id: null,
  reject_reason: null,
  last_error: null,
  updated_at: now,
})

/** Throws `conflict` if the text is not the version that the caller has seen. */
export const requireRevision = ({ revision }: { revision: number }, seen: number | undefined): void => {
  if (seen === undefined || seen === revision) return
  const message = `the present revision is ${revision}`
  fail('conflict', `the text has changed since revision ${seen}; ${message}`, { details: [{ path: 'revision', message }] })
}

/** Whether a change would change what an approval covers: the text or the account. */
export const bindsAnew = (item: Item, next: Pick<Item, 'body' | 'title' | 'account_id'>): boolean =>
  next.body !== item.body || next.title !== item.title || next.account_id !== item.account_id

/** Changes an item. A changed text, title or account makes a draft of it; tags and note do not. */
export const editItem = (item: Item, change: ItemChange, { by, account, measure, now }: Writing): Item => {
  refuseInDoubt(item, 'edit')
  const { body, title } = textAfter(item, change)
  const account_id = change.account === undefined ? item.account_id : change.account
  const next = { ...item, ...notesAfter(item, change) }
  const isNoted = next.note !== item.note || next.tags.join('\n') !== item.tags.join('\n')
  if (!bindsAnew(item, { body, title, account_id })) return isNoted ? { ...next, updated_at: now } : item
  requireEditable(item)
  requireConnected(account, change.account)
  const draft = { ...asDraft(next, now), ...bindingOf(account), account_id }
  const reopened = item.status === 'approved' ? decided(draft, 'reopened', { by, now }) : draft
  if (body === item.body && title === item.title) return reopened
  const form = recognisedAgain(item, { kind: item.kind, body })
  return rewritten(reopened, { body, title, ...form, length: measure(body) }, { by, now })
}

/** A new draft with the text of another item. */
export const duplicateOf = (item: Item, { id, account, now }: { id: string; account: Connection | undefined; now: Date }): Item => ({
  ...newDraftItem(item, { id, length: item.length, now }),
  ...bindingOf(account),
  kind: item.kind,
  title: item.title,
  resurfaced_from: item.id,
  tags: item.tags,
  account_id: item.account_id,
  written_by: item.written_by,
  written_at: item.written_at,
})
