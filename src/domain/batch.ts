/** A batch of drafted posts: queued → generating → ready | failed. */
import type { Draft, DraftSet, ModelUsage } from './draft.ts'
import type { Item } from './item.ts'

export const batchStatuses = ['queued', 'generating', 'ready', 'failed'] as const
export type BatchStatus = (typeof batchStatuses)[number]

export interface Batch {
  id: string
  status: BatchStatus
  /** null, `generation_failed: <hint>`, `cancelled` or `enqueue_failed`. */
  error: string | null
  focus: string
  requested: number
  delivered: number
  /** Who wrote it: `composer`, or the name of a model. */
  model: string | null
  usage: ModelUsage | null
  created_at: Date
  updated_at: Date
}

/** Runs of a generation that may die before it is given up. */
export const GENERATION_RUNS = 2

/** What a generation took at admission; kept in its work row, so that what was not delivered goes back to the same month. */
export interface Taken {
  key: string
  period: string
  amount: number
}

export const newBatch = (id: string, { count, focus, now }: { count: number; focus: string; now: Date }): Batch => ({
  id,
  status: 'queued',
  error: null,
  focus,
  requested: count,
  delivered: 0,
  model: null,
  usage: null,
  created_at: now,
  updated_at: now,
})

export const generating = (batch: Batch, now: Date): Batch => ({ ...batch, status: 'generating', updated_at: now })

type Event = { type: string; data: Record<string, unknown> }

const settledEvent = (batch: Batch): Event => ({
  type: 'growth.batch.settled',
  data: { batch_id: batch.id, status: batch.status, error: batch.error, requested: batch.requested, delivered: batch.delivered },
})

/** What a batch without a single draft ends with, should a drafter bring none and not say why. */
const NO_DRAFTS = 'generation_failed: no draft was valid; add evidence to the profile, or ask for fewer posts with a shorter focus'

/** At least one valid draft makes a batch ready; none makes it failed. What was not delivered is given back. */
export const ready = (batch: Batch, set: DraftSet, { taken, now }: { taken: Taken; now: Date }) => {
  const delivered = Math.min(set.drafts.length, batch.requested)
  if (delivered === 0) return failedBatch(batch, NO_DRAFTS, { taken, now })
  const next: Batch = { ...batch, status: 'ready', delivered, model: set.model, usage: set.usage, updated_at: now }
  const events: Event[] = [
    settledEvent(next),
    { type: 'growth.approval.requested', data: { kind: 'batch', batch_id: batch.id, items: delivered } },
  ]
  return { batch: next, events, refund: giveBack(taken, batch.requested - delivered) }
}

/** The record ends with a code; the quota goes back whole. */
export const failedBatch = (batch: Batch, error: string, { taken, now }: { taken: Taken; now: Date }) => {
  const next: Batch = { ...batch, status: 'failed', error, updated_at: now }
  return { batch: next, events: [settledEvent(next)], refund: giveBack(taken, taken.amount) }
}

const giveBack = (taken: Taken, amount: number): Taken[] => (amount > 0 ? [{ ...taken, amount: -amount }] : [])

/** A draft as the item that a person will approve or reject. */
export const itemOf = (draft: Draft, { id, batchId, length, now }: { id: string; batchId: string; length: number; now: Date }): Item => ({
  id,
  batch_id: batchId,
  kind: 'post',
  status: 'drafted',
  review: false,
  body: draft.body,
  format: draft.format,
  hook: draft.hook,
  rationale: draft.rationale,
  stories: draft.stories,
  learnings: draft.learnings,
  length,
  post_at: null,
  on_missed: null,
  approved_hash: null,
  account_external_id: null,
  reject_reason: null,
  external_id: null,
  url: null,
  posted_at: null,
  last_error: null,
  created_at: now,
  updated_at: now,
})
