/**
 * Watches a returned record: for a day, at growing intervals, the network is read for the post that
 * should not exist.
 */

import type { Claiming } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { identify } from '#decisions/growth/identify'
import { sendables } from '#decisions/growth/sendables'
import type { ReadResult } from '#decisions/growth/timeline'
import type { HeldCall } from '#domain/agent/job/overtaking'
import type { Attempt } from '#domain/growth/sending/attempt'
import type { Connection } from '#domain/growth/sending/connection'
import { lateHit, returnedSince, watchNext } from '#domain/growth/sending/returning'
import type { Settled } from '#domain/growth/sending/send'
import type { Sendable } from '#domain/growth/sending/sendable'
import type { SendTimes } from '#domain/growth/sending/times'
import { type Work, workOf } from '#store/engine/work'
import { returnedAttempt, saveAttempt } from '#store/growth/attempts'
import { finishWork, requeue } from '../decisions.ts'
import { withOvertaken } from './overtaken.ts'
import { decisionOf } from './send-replies.ts'

interface Watched {
  record: Sendable
  times: SendTimes
  job: { attempt: Attempt; connection: Connection }
  outcome: ReadResult
  /** Of the agent, about the record. */
  calls: readonly HeldCall[] | undefined
}

export const settleLate = async (
  letter: Claiming,
  { record, times, job, outcome, calls }: Watched,
): Promise<Decision<void>> => {
  const { sql, gate, work } = letter
  const { moves } = sendables[job.attempt.sendable]
  const attempt = await returnedAttempt(sql, job.attempt, returnedSince(gate.now, times))
  if (attempt?.id !== job.attempt.id || !moves.isWatched(record)) return finishWork(work)
  const isRead = outcome.kind !== 'unread' && !moves.isSending(record)
  const found = isRead
    ? await identify(sql, { record, attempt, connection: job.connection }, outcome)
    : undefined
  if (!found?.post) return requeuedOrOver(work, watchNext(attempt, gate.now, times))
  // Another try has made it, under the same key.
  if (found.post.externalId === record.external_id) return finishWork(work)
  const settled = lateHit(
    { moves, record, attempt, now: gate.now, times },
    found.post,
    job.connection.external_id,
  )
  if (moves.isSent(record)) return twice(settled, work)
  const decision = withOvertaken(decisionOf(settled, work), settled, calls, gate)
  const scheduled = await workOf(sql, 'send', record.id)
  if (scheduled) decision.effects!.settled = [...(decision.effects!.settled ?? []), scheduled.id]
  return decision
}

const requeuedOrOver = (work: Work, at: Date | undefined): Decision<void> =>
  at ? requeue(work, at) : finishWork(work)

const twice = ({ record, attempt, events }: Settled<Sendable>, work: Work): Decision<void> => {
  const { save, audits } = sendables[attempt.sendable]
  const detail = { attempt: attempt.number, external_id: attempt.external_id }
  return {
    reply: undefined,
    effects: {
      writes: [save(record), saveAttempt(attempt)],
      events,
      settled: [work.id],
      audit: { operation: audits.sentTwice, refId: record.id, detail },
    },
  }
}
