/**
 * Doubts that end by themselves. The network answered with an error of its own and promises how
 * late such a request may still be applied; its timeline, read completely after that, does not show
 * the post. So nothing was posted, and the record is approved again, once. Only a new request sends
 * it. The timeline is watched for another day in case the network broke its promise. Pure.
 */
import type { Attempt } from './attempt.ts'
import { cleanRead } from './reconcile.ts'
import { type Settled, settleSent, type Trial } from './send.ts'
import type { Made, Sendable } from './sendable.ts'
import type { SendTimes } from './times.ts'

/** What a complete read without the post proves. */
export interface Proof {
  /** When the read began, by the database's clock: a post applied later may be missing. */
  begunAt: Date
  /** Whether nothing on the timeline may be the post. */
  isClear: boolean
  /** The network's current promise, in milliseconds; undefined if it no longer gives one. */
  appliesWithinMs: number | undefined
}

/**
 * From when reads count; null if a person must decide, for good. A doubt in the future means that
 * the clock stepped back.
 */
const countsFrom = <R extends Sendable>(
  { record, attempt: { returns_from, doubt_at }, now }: Trial<R>,
  { isClear, appliesWithinMs }: Proof,
): Date | null => {
  if (returns_from === null || doubt_at === null || appliesWithinMs === undefined || !isClear)
    return null
  if (record.review || now < doubt_at) return null
  return new Date(Math.max(returns_from.getTime(), doubt_at.getTime() + appliesWithinMs))
}

/**
 * Reads that count are as far apart as the network may take to apply a request. So a forward step
 * of the clock can shorten the wait for the first such read, or one wait between two, and the rest
 * is still long enough.
 */
const nextProof = (
  { attempt, now, times }: Pick<Trial<Sendable>, 'attempt' | 'now' | 'times'>,
  from: Date,
): Date => {
  const { windowMs, settleMs, cleanReads } = times
  const usual = (windowMs - settleMs) / (cleanReads - 1)
  const left = from.getTime() - now.getTime()
  const age = now.getTime() - attempt.doubt_at!.getTime()
  if (left > 0) return new Date(now.getTime() + Math.min(left, Math.max(usual, age / 2)))
  return new Date(
    now.getTime() +
      Math.max(usual, (from.getTime() - attempt.doubt_at!.getTime()) / (cleanReads - 1)),
  )
}

/**
 * A complete read without the post. Enough reads that count prove that it was not made; without the
 * promise a person must check.
 */
export const clearRead = <R extends Sendable>(read: Trial<R>, proof: Proof): Settled<R> => {
  const { moves, record, attempt, now, times } = read
  const from = countsFrom(read, proof)
  if (from === null) return cleanRead({ ...read, attempt: { ...attempt, returns_from: null } })
  const proof_reads = attempt.proof_reads + (proof.begunAt >= from ? 1 : 0)
  const next = { ...attempt, returns_from: from, clean_reads: attempt.clean_reads + 1, proof_reads }
  if (proof_reads < times.cleanReads)
    return {
      record,
      attempt: next,
      events: [],
      next: { kind: 'reconcile', at: nextProof(read, from) },
    }
  const returned = { ...next, state: 'returned', ended_at: now } as const
  return {
    ...moves.returned({ ...record, review: false }, 'network_error_not_posted', now),
    attempt: returned,
    next: { kind: 'reconcile', at: watchNext(returned, now, times) ?? now },
  }
}

/** The next read for a returned attempt, ever rarer; undefined after the time for late hits. */
export const watchNext = (
  { ended_at }: Pick<Attempt, 'ended_at'>,
  now: Date,
  { windowMs, lateHitMs }: SendTimes,
): Date | undefined => {
  const age = now.getTime() - (ended_at ?? now).getTime()
  return age < lateHitMs ? new Date(now.getTime() + Math.max(windowMs, age / 2)) : undefined
}

/** Only attempts returned after this are watched, and looked for before another send. */
export const returnedSince = (now: Date, { lateHitMs }: SendTimes): Date =>
  new Date(now.getTime() - lateHitMs)

/**
 * The network made the post after all, from the account with the network's id `account`. A waiting
 * item is posted by it, even if it was edited since. One that was sent again since is on the
 * network twice, which a person must know.
 */
export const lateHit = <R extends Sendable>(
  read: Trial<R>,
  { externalId, url }: Made,
  account: string,
): Settled<R> => {
  const { moves, record, attempt, now } = read
  if (!moves.isSent(record)) return settleSent(read, { externalId, url }, account)
  return {
    record: {
      ...record,
      last_error: `posted_twice: the network made the post ${externalId} of an earlier request after all`,
      updated_at: now,
    },
    attempt: { ...attempt, state: 'posted', external_id: externalId },
    events: [moves.reviewEvent(record)],
    next: { kind: 'done' },
  }
}

interface Before<R extends Sendable> extends Trial<R> {
  returned: Attempt
}

/** The timeline shows the returned attempt's post before the new send: nothing is sent. */
export const foundBefore = <R extends Sendable>(
  read: Before<R>,
  { externalId, url }: Made,
): Settled<R> => {
  const { attempt, returned, now } = read
  const { attempt: reopened, ...settled } = settleSent(
    { ...read, attempt: returned },
    { externalId, url },
  )
  return { ...settled, reopened, attempt: { ...attempt, state: 'unsent', ended_at: now } }
}

/**
 * The timeline shows a post that may be it: nothing is sent, the doubt about the returned attempt
 * is open again, and a person must check.
 */
export const unclearBefore = <R extends Sendable>({
  moves,
  record,
  attempt,
  returned,
  now,
  times,
}: Before<R>): Settled<R> => ({
  record: moves.unconfirmed(record, { review: true, error: MAY_BE_THERE }, now),
  attempt: { ...attempt, state: 'unsent', ended_at: now },
  reopened: { ...returned, state: 'review', returns_from: null, ended_at: null },
  events: [moves.reviewEvent(record)],
  next: { kind: 'reconcile', at: new Date(now.getTime() + times.windowMs) },
})

const MAY_BE_THERE = 'the timeline shows a post that may be this one, so nothing was sent'
