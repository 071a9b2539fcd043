/** When what addresses an account is read, and how much of it becomes signals. Pure. */
import { affordable, costOf, dayOf, type ReadBudget, type Tier } from '#domain/app/read-budget'
import { SIGNAL_MS } from './signal.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** The most posts in one read. */
const POSTS_PER_READ = 20
/** After a read that found something. Doubles while nothing comes. */
const SOONEST_MS = 5 * MINUTE_MS
/** As often as a target of the first priority. */
const LATEST_MS = 60 * MINUTE_MS
/** After the first failed read. Doubles likewise. */
const BACKOFF_MS = MINUTE_MS
/** Networks show posts late, and clocks differ. A post seen twice is still one signal. */
const OVERLAP_MS = 5 * MINUTE_MS
/**
 * The part of the day's budget that may go to one account's mentions. How many come is up to
 * strangers, and they must not leave nothing for what the workspace reads by its own choice.
 */
const SHARE_OF_DAY = 1 / 3

/** What is known from the reads before. */
export interface MentionReads {
  /** When the last one succeeded, in milliseconds; 0: none has. */
  readAt: number
  /** How many since then found nothing new. */
  quiet: number
  /** How many have failed since. */
  failures: number
  /** The day of the last read, and what reads have cost on it, in the tier's unit. */
  day: string
  spent: number
}

const countIn = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0

export const mentionReadsIn = (payload: Record<string, unknown>): MentionReads => ({
  readAt: countIn(payload.readAt),
  quiet: countIn(payload.quiet),
  failures: countIn(payload.failures),
  day: typeof payload.day === 'string' ? payload.day : '',
  spent: countIn(payload.spent),
})

/**
 * From when on posts are asked for: earlier ones are known, or too old to be answered. The clock
 * may have stepped back since the last read.
 */
export const mentionsSince = ({ readAt }: MentionReads, now: Date): Date =>
  new Date(Math.max(now.getTime() - SIGNAL_MS, Math.min(readAt, now.getTime()) - OVERLAP_MS))

const doubled = (ms: number, times: number): number =>
  Math.min(LATEST_MS, ms * 2 ** Math.min(times, 20))

const after = (now: Date, ms: number): Date => new Date(now.getTime() + ms)

const spentOn = (day: string, before: MentionReads): number =>
  before.day === day ? before.spent : 0

/** After a read in which so many posts were new. */
export const mentionsRead = (
  before: MentionReads,
  { found, cost }: { found: number; cost: number },
  now: Date,
): { reads: MentionReads; next: Date } => {
  const day = dayOf(now)
  const quiet = found > 0 ? 0 : before.quiet + 1
  const spent = spentOn(day, before) + cost
  const reads = { readAt: now.getTime(), quiet, failures: 0, day, spent }
  return { reads, next: after(now, doubled(SOONEST_MS, quiet)) }
}

/** After a failed one; `retryAfterMs`: what the network asks for. */
export const mentionsUnread = (
  before: MentionReads,
  now: Date,
  retryAfterMs = 0,
): { reads: MentionReads; next: Date } => {
  const reads = { ...before, failures: before.failures + 1 }
  const wait = Math.max(doubled(BACKOFF_MS, before.failures), Math.min(DAY_MS, retryAfterMs))
  return { reads, next: after(now, wait) }
}

/** How many posts the day's budget still allows a read; 0: none. */
export const mentionsAllowed = (budget: ReadBudget, before: MentionReads, now: Date): number => {
  const left = budget.limit * SHARE_OF_DAY - spentOn(dayOf(now), before)
  const ofShare = Math.floor(left / costOf(budget.tier, 'post', 1))
  return Math.max(0, Math.min(POSTS_PER_READ, ofShare, affordable(budget, 'post')))
}

/** What a read of so many posts costs. One without any counts as one, since it was a request. */
export const mentionsCost = (tier: Tier, posts: number): number =>
  costOf(tier, 'post', Math.max(1, posts))

/** The most open signals that one author has by addressing us: nobody crowds out all others. */
export const MOST_OF_AUTHOR = 10

/** The newest posts of each author, with those that are open already, up to the maximum. */
export const withinShare = <P extends { author: { handle: string } }>(
  newestFirst: readonly P[],
  open: ReadonlyMap<string, number>,
): P[] => {
  const counts = new Map(open)
  return newestFirst.filter(({ author: { handle } }) => {
    const count = (counts.get(handle) ?? 0) + 1
    counts.set(handle, count)
    return count <= MOST_OF_AUTHOR
  })
}
