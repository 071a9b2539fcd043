/** Doubt, resolved by reading the account's timeline: is the post there? Pure. */
import type { Attempt } from './attempt.ts'
import { type Settled, settleSent, type Trial } from './send.ts'
import type { Made, Moved, Sendable } from './sendable.ts'

export interface SeenPost {
  externalId: string
  /** The network's text, normalised as the attempt's was. */
  text: string
  truncated: boolean
  createdAt: Date
  url: string | null
  /** Of what answers or quotes a post. */
  inReplyTo?: string
  quoted?: string
}

export interface OpenAttempt {
  attempt: Attempt
  /** The normalised text that was sent. */
  text: string
}

/** The network's clock may differ from the database's by this much. */
const CLOCK_SKEW_MS = 5_000
/** A shorter beginning proves nothing; in characters. */
const SHORTEST_PREFIX = 40

/** The longest that a send and the news of its end may take. */
const LONGEST_SEND_MS = 30_000

/** How far back the timeline must be read to decide about an attempt. A doubt before its intent: the clock has stepped back. */
export const readSince = ({ intent_at, doubt_at }: Attempt): Date => {
  const steppedBack = doubt_at !== null && doubt_at < intent_at
  return new Date((steppedBack ? doubt_at.getTime() - LONGEST_SEND_MS : intent_at.getTime()) - CLOCK_SKEW_MS)
}

const ELLIPSIS = /(…|\.\.\.)$/

/** The beginning that a cut-off text shows, or undefined when it is not cut off. */
const prefixOf = ({ text, truncated }: SeenPost): string | undefined => {
  if (!truncated && !ELLIPSIS.test(text)) return undefined
  const prefix = text.replace(ELLIPSIS, '').trimEnd()
  return [...prefix].length >= SHORTEST_PREFIX ? prefix : undefined
}

/**
 * The post that an attempt made, if the timeline shows it: the whole normalised text, or the beginning of it where the
 * network cut the text short and no other attempt of the account fits. `others` may own posts that nobody has named; `taken`:
 * posts that other records own already.
 */
export const findPost = (
  own: OpenAttempt,
  posts: SeenPost[],
  { others, taken }: { others: OpenAttempt[]; taken: Set<string> },
): SeenPost | undefined => {
  // A text of links alone leaves nothing to compare: it identifies no post.
  if (own.text === '') return undefined
  const since = readSince(own.attempt).getTime()
  const candidates = posts.filter((post) => post.createdAt.getTime() >= since && !taken.has(post.externalId))
  // What the network cut short is no whole text, even where it equals one.
  const whole = candidates.filter((post) => !post.truncated && post.text === own.text)
  // No two open attempts share a text; a record that a person settled may, and then the older post is that one's.
  const settledByHand = others.filter((other) => other.text === own.text).length
  if (whole.length > 0) return oldestFirst(whole)[settledByHand]
  return oldestFirst(
    candidates.filter((post) => {
      const prefix = prefixOf(post)
      return prefix !== undefined && own.text.startsWith(prefix) && !others.some((other) => other.text.startsWith(prefix))
    }),
  )[0]
}

/**
 * Whether the timeline shows anything that may be the attempt's post, even where it could as well be another's: only a timeline
 * without such a post allows it to be sent again. A text of links alone may be any other of them.
 */
export const mayShow = (own: OpenAttempt, posts: SeenPost[], taken: Set<string>): boolean => {
  const since = readSince(own.attempt).getTime()
  return posts
    .filter((post) => post.createdAt.getTime() >= since && !taken.has(post.externalId))
    .some(({ text, truncated }) => {
      const isCut = truncated || ELLIPSIS.test(text)
      return text === own.text || (isCut && own.text.startsWith(text.replace(ELLIPSIS, '').trimEnd()))
    })
}

/** Of several that fit, the oldest is the one the attempt made, for a later one can only be a person's. */
const oldestFirst = (posts: SeenPost[]): SeenPost[] => posts.toSorted((one, other) => +one.createdAt - +other.createdAt)

/** What the times of reads depend on. */
type Timed = Pick<Trial<Sendable>, 'attempt' | 'now' | 'times'>

/** Milliseconds since the doubt began. */
const ageOf = ({ attempt, now }: Timed): number => now.getTime() - (attempt.doubt_at ?? now).getTime()

/** The time of a read in `waitMs`, brought forward to the late-hit limit; undefined from the limit on. */
const readIn = (waitMs: number, read: Timed): Date | undefined => {
  const left = read.times.lateHitMs - ageOf(read)
  return left > 0 ? new Date(read.now.getTime() + Math.min(waitMs, left)) : undefined
}

/**
 * So many clean reads, over so long: what a person asks for in between is no reason to give up sooner. A doubt that began later
 * than now is one that the clock has stepped back from.
 */
const isEnough = (read: Timed, cleanReads: number): boolean => {
  const age = ageOf(read)
  return cleanReads >= read.times.cleanReads && (age < 0 || age >= read.times.windowMs)
}

/** Between reads: evenly over the window until a person must look, then ever more rarely until the late-hit limit. */
const nextRead = (read: Timed, cleanReads: number): Date | undefined => {
  const { now, times } = read
  if (!isEnough(read, cleanReads)) return new Date(now.getTime() + (times.windowMs - times.settleMs) / (times.cleanReads - 1))
  return readIn(Math.max(times.windowMs, ageOf(read) / 2), read)
}

/** The timeline shows it. */
export const hit = <R extends Sendable>(read: Trial<R>, { externalId, url }: Made): Settled<R> => settleSent(read, { externalId, url })

/** A complete read that does not show it. After enough of them a person must look; a late hit still settles it. */
export const cleanRead = <R extends Sendable>(read: Trial<R>): Settled<R> => {
  const { record, attempt } = read
  const clean_reads = attempt.clean_reads + 1
  const at = nextRead(read, clean_reads)
  const next: Settled<R>['next'] = at ? { kind: 'reconcile', at } : { kind: 'done' }
  if (!record.review && !isEnough(read, clean_reads)) return { record, attempt: { ...attempt, clean_reads }, events: [], next }
  return { ...inReview({ ...read, attempt: { ...attempt, clean_reads } }), next }
}

/** A read that failed or was incomplete decides nothing: only its time moves, until the late-hit limit. */
export const afterFailedRead = <R extends Sendable>(read: Trial<R>, retryAfterMs = 0): Settled<R> => {
  const { record, attempt, times } = read
  const at = readIn(Math.max(retryAfterMs, times.settleMs, ageOf(read) / 10), read)
  return at ? { record, attempt, events: [], next: { kind: 'reconcile', at } } : { ...inReview(read), next: { kind: 'done' } }
}

/** A person must look. Said once. */
const inReview = <R extends Sendable>({ moves, record, attempt, now }: Trial<R>): Moved<R> & Pick<Settled<R>, 'attempt'> => ({
  record: record.review ? record : { ...record, review: true, updated_at: now },
  attempt: { ...attempt, state: 'review' },
  events: record.review ? [] : [moves.reviewEvent(record)],
})
