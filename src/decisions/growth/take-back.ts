/**
 * Takes back a record that is on its way to the network, for a person who changes or withdraws it.
 */
import type { Author } from '#domain/growth/drafting/revision'
import type { Attempt } from '#domain/growth/sending/attempt'
import { endAttempt } from '#domain/growth/sending/attempt'
import type { Sendable, Transitions } from '#domain/growth/sending/sendable'
import { nextCall } from '#domain/growth/way-on'
import { AppError, fail } from '#kernel/errors'
import { resolvePending } from '#store/engine/idempotency'
import type { Effects } from '#store/engine/letter'
import type { Loaded } from '#store/engine/load'
import { type Work, workFor } from '#store/engine/work'
import { openAttemptPart, type SendableRef, saveAttempt } from '#store/growth/attempts'
import type { Deciding } from '../deciding.ts'
import { againOf } from './send-work.ts'
import { sendables } from './sendables.ts'

/** What `takeBack` must read besides the record. */
export const onItsWay = (of: SendableRef) => ({
  send: workFor('send', of.record_id),
  attempt: openAttemptPart(of),
})

type Withdrawal = 'edit' | 'reject' | 'reopen' | 'delete'

interface Taken<R extends Sendable> extends Loaded<ReturnType<typeof onItsWay>> {
  moves: Transitions<R>
  record: R
  action: Withdrawal
  by: Author
}

export interface TakenBack<R> {
  /** The record after the decision, not saved yet. */
  next: R
  /** The rows of the send that did not take place. */
  effects: Effects
  /** Answers for requests that wait for the send. */
  answers: { refId: string; with: AppError }[]
}

/**
 * The only way in which people take back a record that is scheduled, or claimed and not yet sent.
 * It runs in a letter of an operation that `recalls`, after every other check. The send stops at
 * once; if the letter is refused after that, the send is only delayed.
 *
 * Throws `conflict` if the record may be on the network: if it is in doubt, past the point of no
 * return, or leased to another process, whose progress is unknown.
 * `decide`: what becomes of the record, which is no longer on its way.
 */
export const takeBack = <R extends Sendable>(
  { lanes, gate: { now } }: Pick<Deciding, 'lanes' | 'gate'>,
  { moves, record, send, attempt, action, by }: Taken<R>,
  decide: (record: R) => R,
): TakenBack<R> => {
  if (moves.isUnconfirmed(record)) moves.refuse(record, action, moves.inDoubt)
  if (!send && !moves.isSending(record)) return { next: decide(record), effects: {}, answers: [] }
  // Decides before it stops the send: what is refused must not delay a post.
  const next = decide(moves.isSending(record) ? moves.takenBack(record, now) : record)
  if (!send || againOf(send) || !isUnsent(lanes, send, attempt))
    return inFlight(moves, record, action)
  const unsent = attempt ? [saveAttempt(endAttempt(attempt, 'unsent', now))] : []
  return {
    next,
    effects: { settled: [send.id], writes: [...unsent, ...answerWaiting(moves, next, send)] },
    answers:
      send.origin === 'manual'
        ? [{ refId: next.id, with: takenBackError(moves, { by, at: now }) }]
        : [],
  }
}

/** Nobody has claimed it, or this process has and now stops it before its point of no return. */
const isUnsent = (lanes: Deciding['lanes'], send: Work, attempt: Attempt | undefined): boolean => {
  if (send.state === 'queued') return !attempt
  if (!attempt) return false
  return (
    lanes.recall(({ id, attempt: claimed }) => id === send.id && claimed === send.attempt).length >
    0
  )
}

/**
 * A repeated request to send gets the outcome and sends nothing, because the text may have changed
 * by then.
 */
const answerWaiting = <R extends Sendable>({ kind }: Transitions<R>, next: R, { origin }: Work) =>
  origin === 'manual' ? [resolvePending(next.id, 202, sendables[kind].answer(next))] : []

const takenBackError = <R extends Sendable>(
  { noun }: Transitions<R>,
  decided: { by: Author; at: Date },
): AppError =>
  new AppError('conflict', `nothing was sent: the ${noun} was taken back`, {
    reason: 'taken_back',
    ...decided,
  })

const inFlight = <R extends Sendable>(
  { noun, reads, deciderOf }: Transitions<R>,
  record: R,
  action: Withdrawal,
): never => {
  const message = `the ${noun} is on its way to the network and can no longer be taken back`
  const decider = deciderOf(record)
  return fail('conflict', `cannot ${action}: ${message}; look again in a moment`, {
    reason: 'in_flight',
    by: decider?.by,
    at: decider?.at,
    details: [{ path: 'in_flight', message }, nextCall(reads, record.id)],
  })
}
