/**
 * Sending exactly once: what happens to a record from the claim to the answer. Pure: each function
 * returns the next rows and what follows. The rule behind all of them: the machine never sends
 * again what may have reached the network.
 */
import { contentHash, type DoubtCause } from '../drafting/item.ts'
import { type Attempt, endAttempt, PROCESS_STOPPED } from './attempt.ts'
import type { Made, Moved, Origin, ReturnReason, Sendable, Transitions } from './sendable.ts'
import type { SendTimes } from './times.ts'

interface Claim {
  /** The account that would send. */
  accountExternalId: string
  origin: Origin
  now: Date
}

/** Claims a record for the account. `approval_stale`: content or account are not those approved. */
export const claim = <R extends Sendable>(
  moves: Transitions<R>,
  record: R,
  { accountExternalId, origin, now }: Claim,
): R | 'approval_stale' => {
  if (!moves.isWaiting(record, origin))
    moves.refuse(record, 'claim', { words: 'it no longer waits to be sent' })
  return bindAccount(moves, record, { accountExternalId, now })
}

/** Binds a record to the account that sends it, or returns `approval_stale`. */
export const bindAccount = <R extends Sendable>(
  moves: Transitions<R>,
  record: R,
  { accountExternalId, now }: Omit<Claim, 'origin'>,
): R | 'approval_stale' => {
  const [content, marks] = [moves.contentOf(record), moves.marksOf(record)]
  const bound = record.account_external_id
  if (
    record.approved_hash !== contentHash(content, bound, marks) ||
    (bound !== null && bound !== accountExternalId)
  )
    return 'approval_stale'
  return {
    ...moves.sending(record, now),
    account_external_id: accountExternalId,
    approved_hash: contentHash(content, accountExternalId, marks),
  }
}

/**
 * What the lane reports; port/network/network.ts describes the first five. `unsent`: our own fence
 * or the kill switch stopped it before the send.
 */
export type SendOutcome =
  | { kind: 'posted'; externalId: string; url: string | null }
  | { kind: 'refused'; reason: string }
  | {
      kind: 'not_applied'
      reason: 'rate_limited' | 'unreachable'
      detail: string
      retryAfterMs?: number | undefined
      isSessionOver?: true
    }
  | { kind: 'disconnected'; reason: string; isSuspended?: true }
  | { kind: 'unknown'; reason: string; cause?: DoubtCause }
  | { kind: 'unsent' }

/** A record with an attempt to be decided. */
export interface Trial<R extends Sendable> {
  moves: Transitions<R>
  record: R
  attempt: Attempt
  now: Date
  times: SendTimes
}

export interface Sent<R extends Sendable> extends Trial<R> {
  /** Earlier tries that provably failed. */
  tries: number
  /**
   * The network's promise about requests that it answers with an error: applied within this many
   * milliseconds, or never.
   */
  appliesWithinMs?: number | undefined
}

/** Sent once more, and what may still come of the try before is watched. */
export interface Resend {
  kind: 'resend'
  at: Date
  watchAt: Date
}

export interface Settled<R extends Sendable> extends Moved<R> {
  attempt: Attempt
  /** The previous attempt, which is open again. */
  reopened?: Attempt
  /**
   * What happens to the work row: done, tried again at a time, handed to the reconciler at a time,
   * or read again at once at a person's request.
   */
  next:
    | { kind: 'done' }
    | { kind: 'again'; at: Date; tries: number }
    | { kind: 'reconcile'; at: Date }
    | { kind: 'reread' }
    | Resend
}

/** Decides what the network's answer means. */
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

type Making<R extends Sendable> = Omit<Trial<R>, 'times'>

/**
 * The network has the post. A person may have changed the record since the attempt: then
 * `last_error` says so, and a person is asked to look. `account`: the network's id of the account
 * that has the post.
 */
export const settleSent = <R extends Sendable>(
  sent: Making<R>,
  made: Made,
  account = sent.record.account_external_id,
): Settled<R> => {
  const { moves, record, attempt, now } = sent
  const { record: next, events } = moves.sent(
    { ...record, account_external_id: account },
    made,
    now,
  )
  const error = beforeEdit(sent, made, account)
  return {
    record: error === null ? next : { ...next, last_error: error },
    events: error === null ? events : [...events, moves.reviewEvent(record)],
    attempt: { ...endAttempt(attempt, 'posted', now), external_id: made.externalId },
    ...done,
  }
}

/**
 * How the post differs from the record as it is now. Null: not at all, or nobody knows what was
 * sent.
 */
const beforeEdit = <R extends Sendable>(
  { moves, record, attempt }: Making<R>,
  made: Made,
  account: string | null,
): string | null => {
  const bound = record.account_external_id
  const isOtherText = attempt.sent_text !== null && attempt.sent_text !== moves.textOf(record)
  const isOtherAccount = bound !== null && bound !== account
  const earlier = [...(isOtherText ? ['text'] : []), ...(isOtherAccount ? ['account'] : [])].join(
    ' and ',
  )
  if (earlier === '') return null
  return (
    `posted_before_edit: the network made the post ${made.externalId} of an earlier request after all, with the ${earlier} of then; ` +
    `the ${moves.noun} was edited since, and as it is now it was not sent`
  )
}

interface Why {
  reason: string
  cause: DoubtCause
}

type Doubtful<R extends Sendable> = Omit<Sent<R>, 'tries'>

/**
 * From when reads can prove that nothing was posted: at once under a key of ours, which no later
 * request can double. Elsewhere, without an answer from the network, the request may be applied at
 * any time.
 */
const returnsFrom = <R extends Sendable>(
  { now, times, attempt, appliesWithinMs }: Doubtful<R>,
  { cause }: Why,
): Date | null => {
  if (attempt.network_key !== null) return now
  return cause === 'server_error' &&
    appliesWithinMs !== undefined &&
    appliesWithinMs < times.lateHitMs
    ? new Date(now.getTime() + appliesWithinMs)
    : null
}

/**
 * The post may exist. From here only the timeline or a person decides; the first read follows a
 * settling time after `from`.
 */
export const doubt = <R extends Sendable>(
  sent: Doubtful<R>,
  why: Why,
  from: Date = sent.now,
): Settled<R> => {
  const { moves, record, attempt, now, times } = sent
  const began = { doubt_at: now, doubt_cause: why.cause, returns_from: returnsFrom(sent, why) }
  return {
    record: moves.unconfirmed(record, { review: false, error: why.reason }, now),
    attempt: { ...attempt, state: 'doubt', error: why.reason, ...began },
    events: [],
    next: { kind: 'reconcile', at: new Date(from.getTime() + times.settleMs) },
  }
}

/** A person must check. The event is emitted once. */
export const inReview = <R extends Sendable>({
  moves,
  record,
  attempt,
  now,
}: Making<R>): Moved<R> & Pick<Settled<R>, 'attempt'> => ({
  record: record.review ? record : { ...record, review: true, updated_at: now },
  attempt: { ...attempt, state: 'review' },
  events: record.review ? [] : [moves.reviewEvent(record)],
})

/** Puts the attempt of a dead process in doubt. */
export const orphaned = <R extends Sendable>(sent: Trial<R>, from: Date): Settled<R> =>
  doubt(sent, { reason: PROCESS_STOPPED, cause: 'process_stopped' }, from)

const failed = <R extends Sendable>(
  { moves, record, attempt, now }: Sent<R>,
  reason: string,
): Settled<R> => ({
  ...moves.failed(record, reason, now),
  attempt: endAttempt(attempt, 'failed', now, reason),
  ...done,
})

const returned = <R extends Sendable>(
  { moves, record, attempt, now }: Sent<R>,
  reason: ReturnReason,
): Settled<R> => ({
  ...moves.returned(record, reason, now),
  attempt: endAttempt(attempt, 'failed', now, reason),
  ...done,
})

/**
 * Our own fence or the kill switch stopped it. A manual request stays requested; anything else
 * waits on its schedule.
 */
const unsent = <R extends Sendable>({
  moves,
  record,
  attempt,
  now,
  tries,
}: Sent<R>): Settled<R> => ({
  record: moves.unsent(record, now),
  attempt: endAttempt(attempt, 'unsent', now),
  events: [],
  next: { kind: 'again', at: now, tries },
})

/** The machine retries scheduled records only. A person who posts now gets the error. */
const notApplied = <R extends Sendable>(
  sent: Sent<R>,
  outcome: Extract<SendOutcome, { kind: 'not_applied' }>,
): Settled<R> => {
  const { moves, record, attempt, now, tries, times } = sent
  const due = moves.scheduleOf(record)?.at
  const waits = {
    record: moves.notApplied(record, outcome.reason, now),
    attempt: endAttempt(attempt, 'failed', now, outcome.reason),
    events: [],
  }
  if (!due) return { ...waits, ...done }
  const wait = Math.max(
    times.backoffMs[tries] ?? Number.POSITIVE_INFINITY,
    outcome.retryAfterMs ?? 0,
  )
  if (now.getTime() + wait > due.getTime() + times.retryWindowMs)
    return failed(sent, outcome.reason)
  return { ...waits, next: { kind: 'again', at: new Date(now.getTime() + wait), tries: tries + 1 } }
}
