/**
 * Sends again at a person's request: first reads the timeline completely; then the claim of the new
 * send supersedes the old attempt.
 */

import type { Claiming } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { notConnected } from '#decisions/growth/not-connected'
import { settledEffects } from '#decisions/growth/send-effects'
import { againWork, recordOf, sendWork } from '#decisions/growth/send-work'
import { sendables } from '#decisions/growth/sendables'
import type { Connection } from '#domain/growth/sending/connection'
import {
  type Again,
  claimAgain,
  isStale,
  isTooLate,
  notAgain,
  supersede,
} from '#domain/growth/sending/post-again'
import type { Settled, Trial } from '#domain/growth/sending/send'
import type { Sendable } from '#domain/growth/sending/sendable'
import type { SendTimes } from '#domain/growth/sending/times'
import { AppError } from '#kernel/errors'
import type { Networks } from '#port/network/registry'
import { forgetPending } from '#store/engine/idempotency'
import type { Work } from '#store/engine/work'
import { openAttempt, saveAttempt } from '#store/growth/attempts'
import { accountFor } from '#store/growth/connections'

const TOO_LATE = new AppError(
  'conflict',
  'cannot post again: the request could not be completed in time; try again',
  { reason: 'too_late' },
)
const DELETION = new AppError(
  'conflict',
  'cannot post again: the workspace is scheduled for deletion',
  { reason: 'deletion_scheduled' },
)
const STALE_APPROVAL = new AppError(
  'conflict',
  'cannot post again: the item has changed since its approval',
  { reason: 'stale_approval' },
)

/**
 * Nothing was sent, and the doubt goes on. The caller gets the reason, and can ask again under the
 * same key.
 */
export const refuseAgain = (
  settled: Settled<Sendable>,
  work: Work,
  { again, error }: { again: Again; error: AppError },
): Decision<void> => {
  const effects = settledEffects(settled, work)
  effects.writes?.push(forgetPending(settled.record.id, again.askedAt))
  return { reply: undefined, effects, answers: [{ refId: settled.record.id, with: error }] }
}

/**
 * The timeline was read completely and does not show the post, so the send can be claimed. Until
 * then the record stays unconfirmed.
 */
export const handOver = (doubt: Trial<Sendable>, work: Work, again: Again): Decision<void> => {
  const { record, attempt, now, times } = doubt
  if (isTooLate(again, now, times))
    return refuseAgain(notAgain(doubt, 'missed'), work, { again, error: TOO_LATE })
  const clear = { readAt: now, attemptId: attempt.id, review: record.review }
  const send = sendWork(recordOf(work), {
    record,
    origin: 'manual',
    runAt: again.askedAt,
    again: { ...again, clear },
  })
  return {
    reply: undefined,
    effects: { writes: [saveAttempt(attempt)], settled: [work.id], work: [send] },
  }
}

/** What a new attempt needs, and what must be written before it. */
export type ClaimedAgain =
  | { next: Sendable; connection: Connection; superseded: ReturnType<typeof saveAttempt> }
  | { decision: Decision<void> }

/**
 * Checks everything that can forbid the send again, under the lock; the clear read must still be
 * fresh.
 */
export const tryClaimAgain = async (
  { sql, gate, work }: Claiming,
  again: Again,
  { networks, times }: { networks: Networks; times: SendTimes },
): Promise<ClaimedAgain> => {
  const of = recordOf(work)
  const { moves, lock } = sendables[of.sendable]
  const record = await lock(sql, of.record_id)
  const attempt = await openAttempt(sql, of)
  const done = { decision: { reply: undefined, effects: { settled: [work.id] } } }
  // A person has settled it in the meantime.
  if (!moves.isUnconfirmed(record) || !attempt || attempt.id !== again.clear?.attemptId) return done
  const refused = (error: AppError, reason: string) => ({
    decision: refuseAgain(
      notAgain({ moves, record, attempt, now: gate.now, times }, reason),
      work,
      { again, error },
    ),
  })
  if (gate.deletesAt) return refused(DELETION, 'workspace_deletion')
  const { billing } = gate.plan
  if (billing !== 'ok')
    return refused(new AppError('plan_invalid', billing), `plan_invalid:${billing}`)
  if (isTooLate(again, gate.now, times)) return refused(TOO_LATE, 'missed')
  const connection = await accountFor(sql, record.account_external_id)
  if (!connection || !networks.named(connection.network))
    return refused(await notConnected(sql, { about: { moves, record } }), 'x_not_connected')
  const next = claimAgain(moves, record, {
    accountExternalId: connection.external_id,
    now: gate.now,
  })
  if (next === 'approval_stale') return refused(STALE_APPROVAL, next)
  if (isStale(again.clear, gate.now, times))
    return {
      decision: {
        reply: undefined,
        effects: { settled: [work.id], work: [againWork(of, again.askedAt)] },
      },
    }
  return { next, connection, superseded: saveAttempt(supersede(attempt, gate.now)) }
}
