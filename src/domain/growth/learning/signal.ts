/**
 * Signals: posts of others that may deserve a response, by watched accounts or to ours. Their
 * score, lifetime and transitions. Pure.
 */
import type { signalRecord } from '#contract/records/growth/signal'
import type { RowOf } from '#contract/records/record'
import { fail } from '#kernel/errors'
import type { EngagedPost } from '../drafting/engagement.ts'
import type { Profile } from '../drafting/profile.ts'
import { type Metrics, reactions } from '../metrics.ts'
import { nextCall } from '../way-on.ts'

export type Signal = RowOf<typeof signalRecord>
export type SignalStatus = Signal['status']

const HOUR_MS = 3_600_000
/** An answer later than this is too late. */
export const SIGNAL_MS = 48 * HOUR_MS
/** The most open signals; beyond it the lowest scores are dropped. */
export const MOST_OPEN_SIGNALS = 500

export interface WatchedPost {
  text: string
  createdAt: Date
  metrics: Metrics
  addressesUs: boolean
}

interface Weighing {
  /** The workspace's topics. */
  terms: ReadonlySet<string>
  /** The target's. Null: the post came by no target. */
  priority: number | null
  now: Date
}

const WORD = /[\p{L}\p{N}]{4,}/gu
const MOST_TERMS = 2_000

/** Words too common to indicate a topic. */
const COMMON = new Set(
  (
    'about after again also always another because been before being between both come could does done down each ever every first from good have ' +
    'here into just know last like long made make many more most much must need never next only other over people really same should since some ' +
    'still such take than that their them then there these they thing things think this those time times under until very want well were what when ' +
    'where which while will with without work would year years your yours'
  ).split(' '),
)

const wordsIn = (text: string): string[] =>
  (text.toLowerCase().match(WORD) ?? []).filter((word) => !COMMON.has(word))

/** The workspace's topics: words of its profile and products. */
export const topicsOf = (
  profile: Profile,
  products: readonly { name: string; one_liner: string }[],
): Set<string> => {
  const { stories, proof, use } = profile.writing_dna
  const offered = products.flatMap(({ name, one_liner }) => [name, one_liner])
  const texts = [profile.goal, profile.audience, ...offered, ...use, ...proof, ...stories]
  return new Set(texts.flatMap(wordsIn).slice(0, MOST_TERMS))
}

/** The most points each part can give; 100 in total. */
const worth = { fresh: 25, reach: 20, relevance: 25, question: 10, priority: 10, addressed: 10 }

interface Part {
  points: number
  reason: string
}

const freshness = (post: WatchedPost, now: Date): Part => {
  const hours = Math.max(0, now.getTime() - post.createdAt.getTime()) / HOUR_MS
  return {
    points: worth.fresh * Math.max(0, 1 - (hours * HOUR_MS) / SIGNAL_MS),
    reason: hours < 1 ? 'less than an hour old' : `${Math.floor(hours)} h old`,
  }
}

/** Logarithmic: 100,000 gives all points. */
const reach = ({ metrics }: WatchedPost): Part => {
  const { impressions } = metrics
  const seen = impressions === null ? '' : `${impressions} impressions, `
  return {
    points: Math.min(
      worth.reach,
      (worth.reach * Math.log10(1 + (impressions ?? 0) + 10 * reactions(metrics))) / 5,
    ),
    reason: `${seen}${reactions(metrics)} reactions`,
  }
}

const relevance = ({ text }: WatchedPost, terms: ReadonlySet<string>): Part => {
  const shared = [...new Set(wordsIn(text))].filter((word) => terms.has(word))
  return {
    points: (worth.relevance * Math.min(3, shared.length)) / 3,
    reason: `about ${shared.slice(0, 5).join(', ')}`,
  }
}

const partIf = (holds: boolean, points: number, reason: string): Part => ({
  points: holds ? points : 0,
  reason,
})

const LOWEST_PRIORITY = 3

const ofTarget = (priority: number): Part =>
  partIf(
    priority < LOWEST_PRIORITY,
    (worth.priority * (LOWEST_PRIORITY - priority)) / 2,
    `target of priority ${priority}`,
  )

/** The score, 0 to 100, with a reason for every part that gave points. */
export const scoreOf = (
  post: WatchedPost,
  { terms, priority, now }: Weighing,
): Pick<Signal, 'score' | 'reasons'> => {
  const parts = [
    freshness(post, now),
    reach(post),
    relevance(post, terms),
    partIf(/[?？؟]/.test(post.text), worth.question, 'asks something'),
    ofTarget(priority ?? LOWEST_PRIORITY),
    partIf(post.addressesUs, worth.addressed, 'addresses your account'),
  ]
  const score = Math.round(parts.reduce((sum, { points }) => sum + points, 0))
  return {
    score: Math.max(0, Math.min(100, score)),
    reasons: parts.filter(({ points }) => points >= 0.5).map(({ reason }) => reason),
  }
}

/**
 * A new signal, or undefined if it is too late to answer. Nobody's post lasts longer because it
 * claims to be of the future.
 */
export const newSignal = (
  id: string,
  { post, engaged, targetId }: { post: WatchedPost; engaged: EngagedPost; targetId: string | null },
  weighing: Weighing,
): Signal | undefined => {
  const { now } = weighing
  const posted_at = new Date(Math.min(post.createdAt.getTime(), now.getTime()))
  const expires_at = new Date(posted_at.getTime() + SIGNAL_MS)
  if (expires_at <= now) return undefined
  return {
    id,
    target_id: targetId,
    ...engaged,
    posted_at,
    ...scoreOf(post, weighing),
    status: 'open',
    engagement_id: null,
    expires_at,
    created_at: now,
    updated_at: now,
  }
}

/** Ids of the open signals beyond `most`: the lowest scores, the oldest among equals. */
export const overflow = (
  open: readonly Pick<Signal, 'id' | 'score'>[],
  most = MOST_OPEN_SIGNALS,
): Set<string> => {
  const worst = open.toSorted(
    (one, other) => one.score - other.score || (one.id < other.id ? -1 : 1),
  )
  return new Set(worst.slice(0, Math.max(0, open.length - most)).map(({ id }) => id))
}

/**
 * The actual status: an open signal past its time has expired, even if its row does not say so yet.
 */
export const signalState = (
  { status, expires_at }: Pick<Signal, 'status' | 'expires_at'>,
  now: Date,
): SignalStatus => (status === 'open' && expires_at <= now ? 'expired' : status)

const requireOpen = (signal: Signal, action: string, now: Date): void => {
  const state = signalState(signal, now)
  if (state !== 'open')
    fail('conflict', `cannot ${action}: the signal is ${state}`, {
      reason: 'wrong_state',
      details: [nextCall('growth.signals.list')],
    })
}

export const dismissSignal = (signal: Signal, now: Date): Signal => {
  if (signal.status === 'dismissed') return signal
  requireOpen(signal, 'dismiss', now)
  return { ...signal, status: 'dismissed', updated_at: now }
}

export const requireEngageable = (signal: Signal, now: Date): void =>
  requireOpen(signal, 'engage', now)

export const engageSignal = (signal: Signal, engagementId: string, now: Date): Signal => {
  requireEngageable(signal, now)
  return { ...signal, status: 'engaged', engagement_id: engagementId, updated_at: now }
}
