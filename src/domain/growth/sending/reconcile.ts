/** Resolves a doubt by reading the account's timeline: does it show the post? Pure. */
import type { Attempt } from './attempt.ts'
import { inReview, type Settled, settleSent, type Trial } from './send.ts'
import type { Made, Sendable } from './sendable.ts'

export interface SeenPost {
  externalId: string
  /** The network's text, normalised like the attempt's. */
  text: string
  /** The text as the network gave it. */
  original: string
  truncated: boolean
  createdAt: Date
  url: string | null
  /** For replies and quotes. */
  inReplyTo?: string
  quoted?: string
}

/** When an attempt began. */
type Begun = Pick<Attempt, 'intent_at' | 'doubt_at'>

export interface OpenAttempt {
  attempt: Begun
  /** The normalised text sent. */
  text: string
}

/** The most by which the network's clock and the database's may differ. */
const CLOCK_SKEW_MS = 5_000
/** In characters. A shorter prefix proves nothing. */
const SHORTEST_PREFIX = 40

/** The longest that a send may take, including its result. */
const LONGEST_SEND_MS = 30_000

/**
 * How far back to read the timeline for an attempt. A doubt earlier than the intent means that the
 * clock stepped back.
 */
export const readSince = ({ intent_at, doubt_at }: Begun): Date => {
  const steppedBack = doubt_at !== null && doubt_at < intent_at
  return new Date(
    (steppedBack ? doubt_at.getTime() - LONGEST_SEND_MS : intent_at.getTime()) - CLOCK_SKEW_MS,
  )
}

const ELLIPSIS = /(…|\.\.\.)$/

/** The beginning that a shortened text shows; undefined if the text is whole. */
const prefixOf = ({ text, truncated }: SeenPost): string | undefined => {
  if (!truncated && !ELLIPSIS.test(text)) return undefined
  const prefix = text.replace(ELLIPSIS, '').trimEnd()
  return [...prefix].length >= SHORTEST_PREFIX ? prefix : undefined
}

/**
 * The post that an attempt made, if the timeline shows it: one with the whole normalised text, or
 * with its beginning if the network shortened it and no other attempt of the account fits.
 * `others`: attempts that may own unnamed posts. `taken`: posts that other records own.
 */
export const findPost = (
  own: OpenAttempt,
  posts: SeenPost[],
  { others, taken }: { others: OpenAttempt[]; taken: Set<string> },
): SeenPost | undefined => {
  // A text of links alone identifies no post: there is nothing to compare.
  if (own.text === '') return undefined
  const since = readSince(own.attempt).getTime()
  const candidates = posts.filter(
    (post) => post.createdAt.getTime() >= since && !taken.has(post.externalId),
  )
  // A shortened text never counts as whole, even if it equals one.
  const whole = candidates.filter((post) => !post.truncated && post.text === own.text)
  // No two open attempts share a text. A record that a person settled may have the same one, and
  // then owns the older post.
  const settledByHand = others.filter((other) => other.text === own.text).length
  if (whole.length > 0) return oldestFirst(whole)[settledByHand]
  return oldestFirst(
    candidates.filter((post) => {
      const prefix = prefixOf(post)
      return (
        prefix !== undefined &&
        own.text.startsWith(prefix) &&
        !others.some((other) => other.text.startsWith(prefix))
      )
    }),
  )[0]
}

/**
 * Whether the timeline shows anything that may be the attempt's post, even if it could also be
 * another's. Only a timeline without such a post permits another send. For a text of links alone,
 * any other such post may be it.
 */
export const mayShow = (own: OpenAttempt, posts: SeenPost[], taken: Set<string>): boolean => {
  const since = readSince(own.attempt).getTime()
  return posts
    .filter((post) => post.createdAt.getTime() >= since && !taken.has(post.externalId))
    .some(({ text, truncated }) => {
      const isCut = truncated || ELLIPSIS.test(text)
      return (
        text === own.text || (isCut && own.text.startsWith(text.replace(ELLIPSIS, '').trimEnd()))
      )
    })
}

/** If several fit, the attempt made the oldest: only a person can have made a later one. */
const oldestFirst = (posts: SeenPost[]): SeenPost[] =>
  posts.toSorted((one, other) => +one.createdAt - +other.createdAt)

type Timed = Pick<Trial<Sendable>, 'attempt' | 'now' | 'times'>

/** Milliseconds since the doubt began. */
const ageOf = ({ attempt, now }: Timed): number =>
  now.getTime() - (attempt.doubt_at ?? now).getTime()

/**
 * The time of a read in `waitMs`, but no later than the late-hit limit; undefined after the limit.
 */
const readIn = (waitMs: number, read: Timed): Date | undefined => {
  const left = read.times.lateHitMs - ageOf(read)
  return left > 0 ? new Date(read.now.getTime() + Math.min(waitMs, left)) : undefined
}

/**
 * Enough clean reads, over a long enough time: reads that a person requests in between do not
 * shorten it. A doubt in the future means that the clock stepped back.
 */
const isEnough = (read: Timed, cleanReads: number): boolean => {
  const age = ageOf(read)
  return cleanReads >= read.times.cleanReads && (age < 0 || age >= read.times.windowMs)
}

/** Reads are spread evenly over the window, then become ever rarer until the late-hit limit. */
const nextRead = (read: Timed, cleanReads: number): Date | undefined => {
  const { now, times } = read
  if (!isEnough(read, cleanReads))
    return new Date(now.getTime() + (times.windowMs - times.settleMs) / (times.cleanReads - 1))
  return readIn(Math.max(times.windowMs, ageOf(read) / 2), read)
}

/** The timeline shows the post. */
export const hit = <R extends Sendable>(read: Trial<R>, { externalId, url }: Made): Settled<R> =>
  settleSent(read, { externalId, url })

/**
 * A complete read without the post. After enough of them a person must check; a late hit still
 * settles the doubt.
 */
export const cleanRead = <R extends Sendable>(read: Trial<R>): Settled<R> => {
  const { record, attempt } = read
  const clean_reads = attempt.clean_reads + 1
  const at = nextRead(read, clean_reads)
  const next: Settled<R>['next'] = at ? { kind: 'reconcile', at } : { kind: 'done' }
  if (!record.review && !isEnough(read, clean_reads))
    return { record, attempt: { ...attempt, clean_reads }, events: [], next }
  return { ...inReview({ ...read, attempt: { ...attempt, clean_reads } }), next }
}

/** A failed or incomplete read decides nothing. It is repeated later, until the late-hit limit. */
export const afterFailedRead = <R extends Sendable>(
  read: Trial<R>,
  retryAfterMs = 0,
): Settled<R> => {
  const { record, attempt, times } = read
  const at = readIn(Math.max(retryAfterMs, times.settleMs, ageOf(read) / 10), read)
  return at
    ? { record, attempt, events: [], next: { kind: 'reconcile', at } }
    : { ...inReview(read), next: { kind: 'done' } }
}
