import type { Batch, Taken } from '#domain/batch'
import { failedBatch } from '#domain/batch'
import { itemAnswer } from '#domain/item'
import type { Settled } from '#domain/publish'
import { newId } from '#kernel/ids'
import { saveAttempt } from './attempts.ts'
import { saveBatch } from './batches.ts'
import { saveItem } from './items.ts'
import { type Effects, resolvePending } from './letter.ts'
import type { Work } from './work.ts'

/** What the posting state machine decided, as rows: item and attempt, and what becomes of the work. */
export const settledEffects = ({ item, attempt, events, next }: Settled, work: Work): Effects => {
  const writes = [saveItem(item), saveAttempt(attempt)]
  const effects: Effects = { writes, events, ...workAfter(next, work) }
  if (item.status !== 'posted') return effects
  writes.push(resolvePending(item.id, 200, itemAnswer(item)))
  const detail = { attempt: attempt.number, external_id: item.external_id }
  return { ...effects, audit: { operation: 'growth.items.posted', refId: item.id, detail } }
}

/** A doubtful send is looked up by a row of its own; a reader's row goes on as it is. */
const workAfter = (next: Settled['next'], work: Work): Effects => {
  if (next.kind === 'done') return { settled: [work.id] }
  if (next.kind === 'again') return { requeued: [{ id: work.id, runAt: next.at, payload: { ...work.payload, tries: next.tries } }] }
  if (work.kind === 'reconcile') return { requeued: [{ id: work.id, runAt: next.at }] }
  const reconcile = { id: newId(), lane: 'sync', kind: 'reconcile', refId: work.ref_id, origin: work.origin, runAt: next.at } as const
  return { settled: [work.id], work: [reconcile] }
}

/** What a generation took is kept in its work row. */
export const takenOf = (work: Work): Taken => work.payload.taken as Taken

/** Ends a batch with a code and gives its quota back. */
export const failedEffects = (batch: Batch, error: string, { now, work }: { now: Date; work: Work }): Effects => {
  const failed = failedBatch(batch, error, { taken: takenOf(work), now })
  return { writes: [saveBatch(failed.batch)], events: failed.events, spend: failed.refund, settled: [work.id] }
}
