/** A batch of drafted posts: queued → generating → ready | failed. */
import type { Draft, DraftSet } from './draft.ts'
import { type Ended, type Generation, newGeneration, refund, type Taken } from './generation.ts'
import { type Item, newDraftItem } from './item.ts'

export interface Batch extends Generation {
  focus: string
  /** Its posts are divided over the arms of this one. */
  experiment_id: string | null
  requested: number
  delivered: number
}

/** What is asked for. */
export interface BatchWish {
  count: number
  focus: string
  experiment_id?: string | null
}

export const newBatch = (id: string, { count, focus, experiment_id = null, now }: BatchWish & { now: Date }): Batch => ({
  ...newGeneration(id, now),
  focus,
  experiment_id,
  requested: count,
  delivered: 0,
})

const settledEvent = (batch: Batch): Ended<Batch>['events'][number] => ({
  type: 'growth.batch.settled',
  data: { batch_id: batch.id, status: batch.status, error: batch.error, requested: batch.requested, delivered: batch.delivered },
})

/** What a batch without a single draft ends with, should a drafter bring none and not say why. */
const NO_DRAFTS = 'generation_failed: no draft was valid; add evidence to the profile, or ask for fewer posts with a shorter focus'

/** At least one valid draft makes a batch ready; none makes it failed. What was not delivered is given back. */
export const ready = (batch: Batch, set: DraftSet, { taken, now }: { taken: Taken; now: Date }): Ended<Batch> => {
  const delivered = Math.min(set.drafts.length, batch.requested)
  if (delivered === 0) return failedBatch(batch, NO_DRAFTS, { taken, now })
  const record: Batch = { ...batch, status: 'ready', delivered, model: set.model, usage: set.usage, updated_at: now }
  const events = [
    settledEvent(record),
    { type: 'growth.approval.requested', data: { kind: 'batch', batch_id: batch.id, items: delivered } },
  ]
  return { record, events, refund: refund(taken, batch.requested - delivered) }
}

/** The record ends with a code; the quota goes back whole. */
export const failedBatch = (batch: Batch, error: string, { taken, now }: { taken: Taken; now: Date }): Ended<Batch> => {
  const record: Batch = { ...batch, status: 'failed', error, updated_at: now }
  return { record, events: [settledEvent(record)], refund: refund(taken, taken.amount) }
}

/** A draft as the item that a person will approve or reject. */
export const itemOf = (
  draft: Draft & { arm?: string },
  {
    id,
    batchId,
    experimentId = null,
    length,
    now,
  }: { id: string; batchId: string; experimentId?: string | null; length: number; now: Date },
): Item => ({
  ...newDraftItem(draft, { id, length, now }),
  batch_id: batchId,
  ...(draft.arm ? { experiment_id: experimentId, arm: draft.arm } : {}),
})
