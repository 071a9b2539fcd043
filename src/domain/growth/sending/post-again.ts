/**
 * Sending again what may be on the network already, on a person's word. Pure. The record stays unconfirmed, and its attempt open,
 * until the timeline has been read to its end and does not show the post. Only then the claim of a new attempt supersedes the
 * doubtful one; a new send that provably did not take place brings the doubt about the old one back.
 */
import { fail } from '#kernel/errors'
import { type Attempt, ended } from './attempt.ts'
import { afterFailedRead } from './reconcile.ts'
import { bindAccount, type SendOutcome, type Sent, type Settled, settle, type Trial } from './send.ts'
import type { Sendable, Transitions } from './sendable.ts'
import type { SendTimes } from './times.ts'

/** A person's word, on its way to a send. */
export interface Again {
  askedAt: Date
  /** The timeline did not show the post then; absent while it has not been read. */
  clear?: Clear
}

export interface Clear {
  readAt: Date
  /** Id of the doubtful attempt. */
  attemptId: string
  /** Whether the record was in review, to be so again if the send does not take place. */
  review: boolean
}

/**
 * The timeline is not read before: the process that claimed the attempt may send until its lease ends, and that must have had
 * time to show. A lease that ends later than one that began with the doubt is one that the clock has stepped back from.
 */
export const readableFrom = ({ lease_until, doubt_at }: Attempt, times: SendTimes): Date => {
  const latest = doubt_at ? doubt_at.getTime() + times.leaseMs : Number.POSITIVE_INFINITY
  return new Date(Math.min(lease_until.getTime(), latest) + times.settleMs)
}

/** A person does not expect it any more. */
export const isTooLate = ({ askedAt }: Again, now: Date, times: SendTimes): boolean => now.getTime() - askedAt.getTime() > times.nowMs

/** What the timeline did not show so long ago proves nothing now; nor does what was read later than now, for the clock has stepped back. */
export const isStale = ({ readAt }: Clear, now: Date, times: SendTimes): boolean => {
  const age = now.getTime() - readAt.getTime()
  return age < 0 || age > times.freshMs
}

/** The doubtful attempt makes way for a new one. */
export const supersede = (attempt: Attempt, now: Date): Attempt => ({ ...attempt, state: 'superseded', ended_at: now })

/** The claim of the new send, or `approval_stale` when text or account are not those that were approved. */
export const claimAgain = <R extends Sendable>(
  moves: Transitions<R>,
  record: R,
  claim: { accountExternalId: string; now: Date },
): R | 'approval_stale' => {
  if (!moves.isUnconfirmed(record)) fail('conflict', `cannot claim: the ${moves.noun} is ${moves.stateOf(record)}`)
  const next = bindAccount(moves, record, claim)
  return next === 'approval_stale' ? next : { ...next, review: false }
}

/** Nothing is sent again, for this reason; the doubt goes on, and its next read is as after one that decided nothing. */
export const notAgain = <R extends Sendable>(doubt: Trial<R>, reason: string): Settled<R> =>
  afterFailedRead({ ...doubt, record: { ...doubt.record, last_error: reason, updated_at: doubt.now } })

/** The network's answer to the new send. Where it provably did not take place, everything is as before, and the old attempt is open. */
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
    return { record, attempt: ended(sent.attempt, 'unsent', now), reopened, events: [], next: { kind: 'reread' } }
  const error = outcome.kind === 'disconnected' ? 'x_not_connected' : outcome.reason
  const open = notAgain({ moves, record, attempt: reopened, now, times }, error)
  return { ...open, attempt: ended(sent.attempt, 'failed', now, error), reopened: open.attempt }
}
