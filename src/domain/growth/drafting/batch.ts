/** A batch of drafted posts: queued → generating → ready | failed. */
import { batchRecord } from '#contract/records/growth/batch'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { addUsage, type Draft, type DraftSet, joinedModels } from './draft.ts'
import { type FinishedGeneration, newGeneration, refund, type TakenQuota } from './generation.ts'
import { type Item, newDraftItem } from './item.ts'
import { byBatch } from './source.ts'

export type Batch = RowOf<typeof batchRecord>

/** The most posts of one batch. */
export const MOST_BATCH_POSTS = 20

export interface BatchRequest {
  count: number
  focus: string
  experiment_id?: string | null
  /** The rule that requests it. */
  rule_id?: string | null
}

export const newBatch = (
  id: string,
  { count, focus, experiment_id = null, rule_id = null, now }: BatchRequest & { now: Date },
): Batch => ({
  ...newGeneration(id, now),
  focus,
  experiment_id,
  rule_id,
  requested: count,
  delivered: 0,
  shortfall: null,
})

const settledEvent = (batch: Batch): FinishedGeneration<Batch>['events'][number] => ({
  type: 'growth.batch.settled',
  data: {
    batch_id: batch.id,
    status: batch.status,
    error: batch.error,
    requested: batch.requested,
    delivered: batch.delivered,
  },
})

/**
 * Why posts are missing if the drafter gave no reason: for a batch with no posts, and for one with
 * some.
 */
const NO_DRAFTS =
  'generation_failed: no draft was valid; add evidence to the profile, or ask for fewer posts with a shorter focus'
const NO_MORE = NO_DRAFTS.replace('no draft was', 'no further draft was')

/** Adds posts to the batch, which is not complete yet. */
export const grownBatch = (batch: Batch, { drafts, model, usage }: DraftSet, now: Date): Batch => ({
  ...batch,
  delivered: Math.min(batch.delivered + drafts.length, batch.requested),
  ...(drafts.length > 0 || batch.model === null ? { model: joinedModels(batch.model, model) } : {}),
  usage: batch.usage ? addUsage(batch.usage, usage) : usage,
  updated_at: now,
})

/** Adds the last posts of the batch. */
export const readyBatch = (
  batch: Batch,
  set: DraftSet,
  { taken, now }: { taken: TakenQuota; now: Date },
): FinishedGeneration<Batch> => endedBatch(grownBatch(batch, set, now), NO_MORE, { taken, now })

/**
 * One valid draft is enough for a ready batch; without any it fails. Refunds what was not
 * delivered. `why`: the reason if any are missing.
 */
const endedBatch = (
  batch: Batch,
  why: string,
  { taken, now }: { taken: TakenQuota; now: Date },
): FinishedGeneration<Batch> => {
  const { delivered, requested } = batch
  if (delivered === 0) return failedBatch({ ...batch, model: null }, NO_DRAFTS, { taken, now })
  const shortfall = delivered < requested ? `${delivered} of ${requested} drafted: ${why}` : null
  const record: Batch = { ...batch, status: 'ready', shortfall, updated_at: now }
  const events = [
    settledEvent(record),
    {
      type: 'growth.approval.requested',
      data: { kind: 'batch', batch_id: batch.id, items: batch.delivered },
    },
  ]
  return { record, events, refund: refund(taken, batch.requested - batch.delivered) }
}

/** How many posts it has so far, while it is being drafted. */
const progressOf = ({ status, delivered, requested }: Batch) =>
  status === 'queued' || status === 'generating' ? { done: delivered, of: requested } : null

/** A batch as surfaces show it. */
const view = viewOf(batchRecord)

export const batchView = (batch: Batch) => ({ ...view(batch), progress: progressOf(batch) })

/**
 * Ends a batch that will not be drafted further: ready if it has any posts, otherwise failed.
 * Refunds what was not delivered.
 */
export const failedBatch = (
  batch: Batch,
  error: string,
  { taken, now }: { taken: TakenQuota; now: Date },
): FinishedGeneration<Batch> => {
  if (batch.delivered > 0) return endedBatch(batch, error, { taken, now })
  const record: Batch = { ...batch, status: 'failed', error, updated_at: now }
  return { record, events: [settledEvent(record)], refund: refund(taken, taken.amount) }
}

type ItsBatch = Pick<Batch, 'id' | 'experiment_id' | 'rule_id'>

/** A draft as an item of the batch. */
export const batchItem = (
  draft: Draft & { arm?: string },
  { id, batch, length, now }: { id: string; batch: ItsBatch; length: number; now: Date },
): Item => {
  const experiment_id = draft.arm ? batch.experiment_id : null
  return {
    ...newDraftItem(draft, { id, length, source: byBatch(batch, experiment_id), now }),
    batch_id: batch.id,
    ...(draft.arm ? { experiment_id, arm: draft.arm } : {}),
  }
}
