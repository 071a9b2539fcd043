import { settleAgain } from '#domain/growth/sending/post-again'
import {
  type Resend,
  type SendOutcome,
  type Sent,
  type Settled,
  settle,
} from '#domain/growth/sending/send'
import type { Origin, Sendable } from '#domain/growth/sending/sendable'
import type { Sql } from '#store/engine/db'
import { resolvePending } from '#store/engine/idempotency'
import type { Effects } from '#store/engine/letter'
import type { Work } from '#store/engine/work'
import { attemptById, saveAttempt } from '#store/growth/attempts'
import type { RecordStanding } from '#store/growth/standing'
import { againOf, againWork, readWork, recordOf, rereadEffects, sendWork } from './send-work.ts'
import { sendables } from './sendables.ts'

/**
 * The rows that follow from the machine's decision: record, attempt and work. What `found` shows to
 * be in place is not written again.
 */
export const settledEffects = (
  settled: Settled<Sendable>,
  work: Work,
  found?: RecordStanding,
): Effects => {
  const { record, attempt, reopened, events } = settled
  const { moves, save, answer, audits, detail } = sendables[attempt.sendable]
  const writes = [save(record), saveAttempt(reopened ?? attempt)]
  // Only one attempt of a record can be open, so the one that ends is written first.
  const effects: Effects = {
    ...(reopened ? { first: [saveAttempt(attempt)] } : {}),
    writes,
    events,
    ...workAfter(settled, work),
  }
  if (!moves.isSent(record)) return effects
  if (found?.awaited !== false) writes.push(resolvePending(record.id, 200, answer(record)))
  const auditDetail = {
    ...detail(record),
    attempt: attempt.number,
    external_id: record.external_id,
  }
  return {
    ...effects,
    standing: found,
    audit: { operation: audits.sent, refId: record.id, detail: auditDetail },
  }
}

/**
 * Settles a send by the network's answer, whether it is the record's first or one that a person
 * requested again.
 */
export const settleSend = async <R extends Sendable>(
  sql: Sql,
  { sent, work }: { sent: Sent<R>; work: Work },
  outcome: SendOutcome,
): Promise<Settled<R>> => {
  const clear = againOf(work)?.clear
  const old = clear && (await attemptById(sql, clear.attemptId))
  return clear && old
    ? settleAgain(sent, { old, review: clear.review }, outcome)
    : settle(sent, outcome)
}

/** The record waits for another send, and the row that reads goes on as a watch. */
const resent = (
  work: Work,
  of: ReturnType<typeof recordOf>,
  { next, record, origin }: { next: Resend; record: Sendable; origin: Origin },
): Effects => {
  const send = sendWork(of, { record, origin, runAt: next.at, tries: 1 })
  const watch = rereadEffects(work, of, { origin: 'automatic', runAt: next.watchAt })
  return { ...watch, work: [send] }
}

/** A doubtful send gets a row of reading work. A row that already reads goes on as it is. */
const workAfter = ({ next, record, attempt, reopened }: Settled<Sendable>, work: Work): Effects => {
  const { origin } = reopened ?? attempt
  const of = recordOf(work)
  if (next.kind === 'done') return { settled: [work.id] }
  if (next.kind === 'again')
    return {
      requeued: [{ id: work.id, runAt: next.at, payload: { ...work.payload, tries: next.tries } }],
    }
  if (next.kind === 'reread')
    return { settled: [work.id], work: [againWork(of, againOf(work)!.askedAt)] }
  if (next.kind === 'resend') return resent(work, of, { next, record, origin })
  // The request to send again is spent. From here the doubt has the origin of its attempt.
  if (work.kind === 'reconcile') return rereadEffects(work, of, { origin, runAt: next.at })
  return { settled: [work.id], work: [readWork(of, { origin, runAt: next.at })] }
}
