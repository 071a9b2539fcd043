/**
 * Ends the records of sends, and of reads of doubtful sends, that have failed here as often as they
 * may.
 */
import type { Claiming } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { againOf, recordOf } from '#decisions/growth/send-work'
import { sendables } from '#decisions/growth/sendables'
import { inReview, type Settled } from '#domain/growth/sending/send'
import type { Sendable } from '#domain/growth/sending/sendable'
import { AppError } from '#kernel/errors'
import { forgetPending } from '#store/engine/idempotency'
import { openAttempt } from '#store/growth/attempts'
import { finishWork } from '../decisions.ts'
import { refuseAgain } from './post-again.ts'
import { decisionOf } from './send-replies.ts'

const IN_VAIN =
  'internal: it could not be sent, and nothing was; try again, and tell the operator if that fails too'
const UNREAD =
  'internal: whether it was sent could not be found out; check the account, and tell the operator'
const ERROR = new AppError('internal', 'it could not be sent; nothing was sent')

/** No claim of it was ever made. */
export const notSent = async (claiming: Claiming): Promise<Decision<void>> => {
  const { sql, gate, work } = claiming
  // An earlier attempt is in doubt, and may have been sent.
  if (againOf(work)) return toReview(claiming)
  const { moves, lock, save } = sendables[recordOf(work).sendable]
  const before = await lock(sql, work.ref_id)
  if (!moves.isWaiting(before, work.origin)) return finishWork(work)
  const { record, events } = moves.failed(before, IN_VAIN, gate.now)
  const effects = { writes: [save(record), forgetPending(record.id)], events, settled: [work.id] }
  return { reply: undefined, effects, answers: [{ refId: record.id, with: ERROR }] }
}

/** It may have been sent, so a person must check. */
export const toReview = async ({ sql, gate, work }: Claiming): Promise<Decision<void>> => {
  const of = recordOf(work)
  const { moves, lock } = sendables[of.sendable]
  const record = await lock(sql, of.record_id)
  const attempt = await openAttempt(sql, of)
  if (!attempt) return finishWork(work)
  const unconfirmed = moves.unconfirmed(record, { review: record.review, error: UNREAD }, gate.now)
  const settled: Settled<Sendable> = {
    ...inReview({ moves, record: unconfirmed, attempt, now: gate.now }),
    next: { kind: 'done' },
  }
  const again = againOf(work)
  return again ? refuseAgain(settled, work, { again, error: ERROR }) : decisionOf(settled, work)
}
