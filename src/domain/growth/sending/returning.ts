/**
 * A doubt that ends by itself: the network answered with an error of its own, it promises how late such a request may still be
 * applied, and its timeline, read to the end after that, does not show the post. Then nothing was posted, and the record is approved
 * again, once; only a new request sends it. The timeline is watched on for a day, should the network have broken its promise. Pure.
 */
import type { Attempt } from './attempt.ts'
import { cleanRead } from './reconcile.ts'
import { type Settled, settleSent, type Trial } from './send.ts'
import type { Made, Sendable } from './sendable.ts'
import type { SendTimes } from './times.ts'

/** What a complete read proves that does not show the post. */
export interface Proof {
  /** When the read began, by the database's clock: a post applied later may be missing. */
  begunAt: Date
  /** Nothing that the timeline shows may be the post. */
  isClear: boolean
  /** The network's promise as it stands now, in milliseconds; undefined where it gives none any more. */
  appliesWithinMs: number | undefined
}

/** From when on reads count; null where a person decides, for good. A doubt later than now: the clock has stepped back. */
const countsFrom = <R extends Sendable>(
  { record, attempt: { returns_from, doubt_at }, now }: Trial<R>,
  { isClear, appliesWithinMs }: Proof,
): Date | null => {
  if (returns_from === null || doubt_at === null || appliesWithinMs === undefined || !isClear) return null
  if (record.review || now < doubt_at) return null
  return new Date(Math.max(returns_from.getTime(), doubt_at.getTime() + appliesWithinMs))
}

/**
 * As far apart as the network may take to apply a request, all in all: a clock that steps forward can shorten the wait for the
 * first read that counts, or one wait between two, and what is left is long enough.
 */
const nextProof = ({ attempt, now, times }: Pick<Trial<Sendable>, 'attempt' | 'now' | 'times'>, from: Date): Date => {
  const { windowMs, settleMs, cleanReads } = times
  const usual = (windowMs - settleMs) / (cleanReads - 1)
  const left = from.getTime() - now.getTime()
  const age = now.getTime() - attempt.doubt_at!.getTime()
  if (left > 0) return new Date(now.getTime() + Math.min(left, Math.max(usual, age / 2)))
  return new Date(now.getTime() + Math.max(usual, (from.getTime() - attempt.doubt_at!.getTime()) / (cleanReads - 1)))
}

/** A complete read that does not show the post: with enough of them that count it was not made, without the promise a person must look. */
export const clearRead = <R extends Sendable>(read: Trial<R>, proof: Proof): Settled<R> => {
  const { moves, record, attempt, now, times } = read
  const from = countsFrom(read, proof)
  if (from === null) return cleanRead({ ...read, attempt: { ...attempt, returns_from: null } })
  const proof_reads = attempt.proof_reads + (proof.begunAt >= from ? 1 : 0)
  const next = { ...attempt, returns_from: from, clean_reads: attempt.clean_reads + 1, proof_reads }
  if (proof_reads < times.cleanReads) return { record, attempt: next, events: [], next: { kind: 'reconcile', at: nextProof(read, from) } }
  const returned = { ...next, state: 'returned', ended_at: now } as const
  return {
    ...moves.returned({ ...record, review: false }, 'network_error_not_posted', now),
    attempt: returned,
    next: { kind: 'reconcile', at: watchNext(returned, now, times) ?? now },
  }
}

/** When the timeline is read again for an attempt that was returned, ever more rarely; undefined after the time for late hits. */
export const watchNext = ({ ended_at }: Pick<Attempt, 'ended_at'>, now: Date, { windowMs, lateHitMs }: SendTimes): Date | undefined => {
  const age = now.getTime() - (ended_at ?? now).getTime()
  return age < lateHitMs ? new Date(now.getTime() + Math.max(windowMs, age / 2)) : undefined
}

/** Only an attempt that was returned later than this is watched, and looked for before another send. */
export const returnedSince = (now: Date, { lateHitMs }: SendTimes): Date => new Date(now.getTime() - lateHitMs)

/** The network made it after all. An item that waits is posted by it; one that has gone out since stands there twice, which a person must know. */
export const lateHit = <R extends Sendable>(read: Trial<R>, { externalId, url }: Made): Settled<R> => {
  const { moves, record, attempt, now } = read
  if (!moves.isSent(record)) return settleSent(read, { externalId, url })
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

/** Before the new send the timeline shows the post of the returned attempt: nothing is sent. */
export const foundBefore = <R extends Sendable>(read: Before<R>, { externalId, url }: Made): Settled<R> => {
  const { attempt, returned, now } = read
  const { attempt: reopened, ...settled } = settleSent({ ...read, attempt: returned }, { externalId, url })
  return { ...settled, reopened, attempt: { ...attempt, state: 'unsent', ended_at: now } }
}

/** It shows what may be the post: a person must look. The doubt about the returned attempt is open again, and nothing is sent. */
export const unclearBefore = <R extends Sendable>({ moves, record, attempt, returned, now, times }: Before<R>): Settled<R> => ({
  record: moves.unconfirmed(record, { review: true, error: MAY_BE_THERE }, now),
  attempt: { ...attempt, state: 'unsent', ended_at: now },
  reopened: { ...returned, state: 'review', returns_from: null, ended_at: null },
  events: [moves.reviewEvent(record)],
  next: { kind: 'reconcile', at: new Date(now.getTime() + times.windowMs) },
})

const MAY_BE_THERE = 'the timeline shows a post that may be this one, so nothing was sent'
