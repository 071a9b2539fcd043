/**
 * Sending a doubtful record again at a person's request. Pure. The record stays unconfirmed and its
 * attempt open until the timeline was read completely without showing the post. Then the claim of a
 * new attempt supersedes the doubtful one. If the new send provably did not take place, the doubt
 * about the old one returns.
 */
import { type Attempt, endAttempt } from './attempt.ts'
import { afterFailedRead } from './reconcile.ts'
import {
  bindAccount,
  type SendOutcome,
  type Sent,
  type Settled,
  settle,
  type Trial,
} from './send.ts'
import type { Sendable, Transitions } from './sendable.ts'
import type { SendTimes } from './times.ts'

/** A person's request to send again. */
export interface Again {
  askedAt: Date
  /** Set once a complete read did not show the post. */
  clear?: Clear
}

export interface Clear {
  readAt: Date
  /** The doubtful attempt's id. */
  attemptId: string
  /** Whether the record was in review, which is restored if the send does not take place. */
  review: boolean
}

/**
 * When the timeline can be read: the claiming process may send until its lease ends, and the post
 * needs time to show. If the clock stepped back, the lease may end later than one that began with
 * the doubt.
 */
export const readableFrom = ({ lease_until, doubt_at }: Attempt, times: SendTimes): Date => {
  const latest = doubt_at ? doubt_at.getTime() + times.leaseMs : Number.POSITIVE_INFINITY
  return new Date(Math.min(lease_until.getTime(), latest) + times.settleMs)
}

/** The request is too old to be expected any more. */
export const isTooLate = ({ askedAt }: Again, now: Date, times: SendTimes): boolean =>
  now.getTime() - askedAt.getTime() > times.nowMs

/**
 * A clear read that is too old proves nothing. Nor does one in the future: the clock has stepped
 * back.
 */
export const isStale = ({ readAt }: Clear, now: Date, times: SendTimes): boolean => {
  const age = now.getTime() - readAt.getTime()
  return age < 0 || age > times.freshMs
}

export const supersede = (attempt: Attempt, now: Date): Attempt => ({
  ...attempt,
  state: 'superseded',
  ended_at: now,
})

/** Claims the new send. `approval_stale`: content or account are not those approved. */
export const claimAgain = <R extends Sendable>(
  moves: Transitions<R>,
  record: R,
  claim: { accountExternalId: string; now: Date },
): R | 'approval_stale' => {
  if (!moves.isUnconfirmed(record))
    moves.refuse(record, 'claim', { words: 'it no longer waits to be sent' })
  const next = bindAccount(moves, record, claim)
  return next === 'approval_stale' ? next : { ...next, review: false }
}

/**
 * Refuses to send again for this reason. The doubt goes on, and its next read is timed as after an
 * inconclusive one.
 */
export const notAgain = <R extends Sendable>(doubt: Trial<R>, reason: string): Settled<R> =>
  afterFailedRead({
    ...doubt,
    record: { ...doubt.record, last_error: reason, updated_at: doubt.now },
  })

/**
 * Settles the new send. If it provably did not take place, everything is as before and the old
 * attempt is open again.
 */
export const settleAgain = <R extends Sendable>(
  sent: Sent<R>,
  { old, review }: { old: Attempt; review: boolean },
  outcome: SendOutcome,
): Settled<R> => {
  if (outcome.kind === 'posted' || outcome.kind === 'unknown') return settle(sent, outcome)
  const { moves, now, times } = sent
  const record = moves.unconfirmed(sent.record, { review, error: sent.record.last_error }, now)
  const reopened: Attempt = { ...old, state: review ? 'review' : 'doubt', ended_at: null }
  if (outcome.kind === 'unsent')
    return {
      record,
      attempt: endAttempt(sent.attempt, 'unsent', now),
      reopened,
      events: [],
      next: { kind: 'reread' },
    }
  const error = outcome.kind === 'disconnected' ? 'x_not_connected' : outcome.reason
  const open = notAgain({ moves, record, attempt: reopened, now, times }, error)
  return {
    ...open,
    attempt: endAttempt(sent.attempt, 'failed', now, error),
    reopened: open.attempt,
  }
}
