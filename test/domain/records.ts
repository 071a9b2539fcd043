/** Records to start from, and the states of an item as people name them. */
import { itemRecord } from '#contract/records/growth/item'
import { contentHash, type Item } from '#domain/growth/drafting/item'
import type { Attempt } from '#domain/growth/sending/attempt'

/** `ms` after a fixed moment: 21 November 2026, 07:00 UTC. */
export const at = (ms = 0): Date => new Date(Date.UTC(2026, 10, 21, 7) + ms)

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const ACCOUNT = 'account-1'

export const draftedItem: Item = {
  ...itemRecord.blank,
  id: 'item-1',
  source_kind: 'batch',
  source_id: 'batch-1',
  batch_id: 'batch-1',
  kind: 'post',
  status: 'drafted',
  review: false,
  body: 'Every delay starts at the dock.',
  format: 'story',
  hook: 'number',
  rationale: 'It uses your proof.',
  stories: [],
  learnings: [],
  length: 31,
  tags: [],
  revision: 1,
  created_at: at(),
  updated_at: at(),
}

/** Approved as it was drafted, for `ACCOUNT`; `changes` are made after the approval. */
export const approvedItem = (changes: Partial<Item> = {}): Item => ({
  ...draftedItem,
  status: 'approved',
  account_external_id: ACCOUNT,
  approved_hash: contentHash(draftedItem.body, ACCOUNT),
  ...changes,
})

export const stateNames = [
  'drafted',
  'approved',
  'scheduled',
  'publishing',
  'posted',
  'rejected',
  'publish_failed',
  'publish_unconfirmed',
  'in review',
] as const
export type StateName = (typeof stateNames)[number]

/** An item in each state, frozen: no function of the domain may write into what it is given. */
export const itemIn: Record<StateName, Readonly<Item>> = {
  drafted: Object.freeze(draftedItem),
  approved: Object.freeze(approvedItem()),
  scheduled: Object.freeze(approvedItem({ post_at: at(HOUR), on_missed: 'skip' })),
  publishing: Object.freeze(approvedItem({ status: 'publishing' })),
  posted: Object.freeze(approvedItem({ status: 'posted', external_id: 'post-1', posted_at: at() })),
  rejected: Object.freeze({ ...draftedItem, status: 'rejected', reject_reason: 'too dry' }),
  publish_failed: Object.freeze(approvedItem({ status: 'publish_failed', last_error: 'too long' })),
  publish_unconfirmed: Object.freeze(
    approvedItem({ status: 'publish_unconfirmed', last_error: 'timeout' }),
  ),
  'in review': Object.freeze(
    approvedItem({ status: 'publish_unconfirmed', review: true, last_error: 'timeout' }),
  ),
}

/** The state of an item, told by its fields alone. */
export const stateName = (item: Item): StateName => {
  if (item.status === 'approved') return item.post_at ? 'scheduled' : 'approved'
  if (item.status === 'publish_unconfirmed')
    return item.review ? 'in review' : 'publish_unconfirmed'
  return item.status
}

export const attemptWith = (changes: Partial<Attempt> = {}): Attempt => ({
  id: 'attempt-1',
  sendable: 'post',
  record_id: 'item-1',
  number: 1,
  connection_id: 'connection-1',
  body_sha: 'sha',
  sent_text: draftedItem.body,
  network_key: null,
  origin: 'manual',
  state: 'open',
  intent_at: at(),
  lease_until: at(20_000),
  doubt_at: null,
  doubt_cause: null,
  returns_from: null,
  clean_reads: 0,
  proof_reads: 0,
  reads: [],
  external_id: null,
  error: null,
  ended_at: null,
  ...changes,
})
