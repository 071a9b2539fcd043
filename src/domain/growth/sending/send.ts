/**
 * Sending exactly once: what happens to a record from the claim to the answer. Pure: each function returns the next rows and what
 * follows. The rule behind all of them: what may have reached the network is never sent again by the machine.
 */
import { fail } from '#kernel/errors'
import { contentHash, type DoubtCause } from '../drafting/item.ts'
import { type Attempt, ended, PROCESS_STOPPED } from './attempt.ts'
import type { Made, Moved, Origin, ReturnReason, Sendable, Transitions } from './sendable.ts'
import type { SendTimes } from './times.ts'

/**
 * Is the scheduled record too late to go out? `tries` are sends that provably failed since it was due: what was tried in time is
 * missed only when its next try was held up past the window for tries.
 */
export const isMissed = (
  schedule: { at: Date } | null,
  { now, tries, times, policy }: { now: Date; tries: number; times: SendTimes; policy: 'post' | 'skip' },
): boolean => {
  if (!schedule) return false
  const late = now.getTime() - schedule.at.getTime()
  if (tries > 0) return late > times.retryWindowMs + times.missedToleranceMs
  return policy === 'skip' ? late > times.missedToleranceMs : late >= times.missedMs
}

interface Claim {
  /** The account that the send would go out from. */
  accountExternalId: string
  origin: Origin
  now: Date
}

/** The claim: bound to the account, or `approval_stale` when content or account are not those that were approved. */
export const claim = <R extends Sendable>(
  moves: Transitions<R>,
  record: R,
  { accountExternalId, origin, now }: Claim,
): R | 'approval_stale' => {
  if (!moves.isWaiting(record, origin)) fail('conflict', `cannot claim: the ${moves.noun} is ${moves.stateOf(record)}`)
  return bindAccount(moves, record, { accountExternalId, now })
}

/** On its way out from this account, or `approval_stale`. */
export const bindAccount = <R extends Sendable>(
  moves: Transitions<R>,
  record: R,
  { accountExternalId, now }: Omit<Claim, 'origin'>,
): R | 'approval_stale' => {
  const [content, bound] = [moves.contentOf(record), record.account_external_id]
  if (record.approved_hash !== contentHash(content, bound) || (bound !== null && bound !== accountExternalId)) return 'approval_stale'
  return {
    ...moves.sending(record, now),
    account_external_id: accountExternalId,
    approved_hash: contentHash(content, accountExternalId),
  }
}

/** What the lane reports; see port/network for the first five. `unsent`: our own fence or the kill switch stopped it before the send. */
export type SendOutcome =
  | { kind: 'posted'; externalId: string; url: string | null }
  | { kind: 'refused'; reason: string }
  | { kind: 'not_applied'; reason: 'rate_limited' | 'unreachable'; detail: string; retryAfterMs?: number | undefined }
  | { kind: 'disconnected'; reason: string }
  | { kind: 'unknown'; reason: string; cause?: DoubtCause }
  | { kind: 'unsent' }

/** A record with an attempt whose fate is decided. */
export interface Trial<R extends Sendable> {
  moves: Transitions<R>
  record: R
  attempt: Attempt
  now: Date
  times: SendTimes
}

export interface Sent<R extends Sendable> extends Trial<R> {
  /** The tries before this one that provably failed. */
  tries: number
  /** What the network promises of a request that it answers with an error: applied by then, in milliseconds, or never. */
  appliesWithinMs?: number | undefined
}

export interface Settled<R extends Sendable> extends Moved<R> {
  attempt: Attempt
  /** The attempt before this one, whose fate is open again. */
  reopened?: Attempt
  /** What becomes of the work row: done, tried again at a time, or handed to the reconciler: at a time, or at once on a person's word. */
  next: { kind: 'done' } | { kind: 'again'; at: Date; tries: number } | { kind: 'reconcile'; at: Date } | { kind: 'reread' }
}

/** The state machine's answer to the network's answer. */
export const settle = <R extends Sendable>(sent: Sent<R>, outcome: SendOutcome): Settled<R> => {
  switch (outcome.kind) {
    case 'posted':
      return settleSent(sent, outcome)
    case 'unknown':
      return doubt(sent, { reason: outcome.reason, cause: outcome.cause ?? 'no_answer' })
    case 'refused':
      return failed(sent, outcome.reason)
    case 'disconnected':
      return returned(sent, 'x_not_connected')
    case 'not_applied':
      return notApplied(sent, outcome)
    case 'unsent':
      return unsent(sent)
  }
}

const done = { next: { kind: 'done' } } as const

export const settleSent = <R extends Sendable>({ moves, record, attempt, now }: Omit<Trial<R>, 'times'>, made: Made): Settled<R> => ({
  ...moves.sent(record, made, now),
  attempt: { ...ended(attempt, 'posted', now), external_id: made.externalId },
  ...done,
})

interface Why {
  reason: string
  cause: DoubtCause
}

type Doubtful<R extends Sendable> = Omit<Sent<R>, 'tries'>

/** From when on reads may prove that nothing was posted: what the network did not answer may be applied at any time. */
const returnsFrom = <R extends Sendable>({ now, times, appliesWithinMs }: Doubtful<R>, { cause }: Why): Date | null =>
  cause === 'server_error' && appliesWithinMs !== undefined && appliesWithinMs < times.lateHitMs
    ? new Date(now.getTime() + appliesWithinMs)
    : null

/** It may be out there. From here only the timeline or a person decides; it is read first a settling time after `from`. */
export const doubt = <R extends Sendable>(sent: Doubtful<R>, why: Why, from: Date = sent.now): Settled<R> => {
  const { moves, record, attempt, now, times } = sent
  const began = { doubt_at: now, doubt_cause: why.cause, returns_from: returnsFrom(sent, why) }
  return {
    record: moves.unconfirmed(record, { review: false, error: why.reason }, now),
    attempt: { ...attempt, state: 'doubt', error: why.reason, ...began },
    events: [],
    next: { kind: 'reconcile', at: new Date(from.getTime() + times.settleMs) },
  }
}

/** What a process left that died between its claim and the news of its end. */
export const orphaned = <R extends Sendable>(sent: Trial<R>, from: Date): Settled<R> =>
  doubt(sent, { reason: PROCESS_STOPPED, cause: 'process_stopped' }, from)

const failed = <R extends Sendable>({ moves, record, attempt, now }: Sent<R>, reason: string): Settled<R> => ({
  ...moves.failed(record, reason, now),
  attempt: ended(attempt, 'failed', now, reason),
  ...done,
})

const returned = <R extends Sendable>({ moves, record, attempt, now }: Sent<R>, reason: ReturnReason): Settled<R> => ({
  ...moves.returned(record, reason, now),
  attempt: ended(attempt, 'failed', now, reason),
  ...done,
})

/** Our own fence or the kill switch stopped it: what a person asked for now stays asked for, the rest waits on the schedule. */
const unsent = <R extends Sendable>({ moves, record, attempt, now, tries }: Sent<R>): Settled<R> => ({
  record: moves.unsent(record, now),
  attempt: ended(attempt, 'unsent', now),
  events: [],
  next: { kind: 'again', at: now, tries },
})

/** Only what is on a schedule is tried again by the machine; a person who asked for "now" gets the error. */
const notApplied = <R extends Sendable>(sent: Sent<R>, outcome: Extract<SendOutcome, { kind: 'not_applied' }>): Settled<R> => {
  const { moves, record, attempt, now, tries, times } = sent
  const due = moves.scheduleOf(record)?.at
  const waits = {
    record: moves.notApplied(record, outcome.reason, now),
    attempt: ended(attempt, 'failed', now, outcome.reason),
    events: [],
  }
  if (!due) return { ...waits, ...done }
  const wait = Math.max(times.backoffMs[tries] ?? Number.POSITIVE_INFINITY, outcome.retryAfterMs ?? 0)
  if (now.getTime() + wait > due.getTime() + times.retryWindowMs) return failed(sent, outcome.reason)
  return { ...waits, next: { kind: 'again', at: new Date(now.getTime() + wait), tries: tries + 1 } }
}
