/**
 * An analytics audit: what worked and what flopped, by the numbers. queued → generating → ready |
 * failed.
 */

import type { growthAuditRecord } from '#contract/records/growth/growth-audit'
import type { RowOf } from '#contract/records/record'
import type { ModelUsage } from '../drafting/draft.ts'
import {
  type FinishedGeneration,
  newGeneration,
  refund,
  type TakenQuota,
} from '../drafting/generation.ts'
import {
  basisOf,
  commonBasis,
  engagementRate,
  type Metrics,
  PER_POST,
  performanceOf,
  reactions,
} from '../metrics.ts'
import { LIKELY, labelOf, notEnough, SURE, wordingOf } from './claim-words.ts'
import { featuresOf, type PostFacts } from './post-features.ts'
import { compareAll, type GroupComparison, LEAST_GROUP } from './statistics.ts'

export type GrowthAudit = RowOf<typeof growthAuditRecord>
export type SuppliedMetrics = NonNullable<GrowthAudit['given']>[number]
export type AuditResult = NonNullable<GrowthAudit['result']>
export type Claim = AuditResult['worked'][number]
type Ranked = AuditResult['best'][number]
export type LearnedKind = AuditResult['learnings'][number]['kind']

/** A post with its metrics. */
export interface CountedPost extends PostFacts {
  item_id: string | null
  metrics: Metrics
}

export const AUDIT_DAYS = 30
export const auditLimits = {
  /** The newest posts that an audit reads. */
  posts: 1_000,
  claims: 8,
  hypotheses: 1,
  evidence: 10,
  /**
   * An audit keeps one line for each comparison. With 1,000 posts there are seldom more than a few
   * hundred.
   */
  compared: 500,
} as const
/** A post's age from which it counts. */
export const MATURE_MS = 86_400_000

const RANKED = 3
const EXCERPT = 120

export const newAudit = (
  id: string,
  { now, days, given }: { now: Date; days: number; given: SuppliedMetrics[] | null },
): GrowthAudit => ({
  ...newGeneration(id, now),
  days,
  source: given ? 'given' : 'synced',
  given,
  result: null,
})

export const readyAudit = (
  audit: GrowthAudit,
  {
    result,
    model,
    usage,
    now,
  }: { result: AuditResult; model: string; usage: ModelUsage; now: Date },
): FinishedGeneration<GrowthAudit> => ({
  record: { ...audit, status: 'ready', result, model, usage, updated_at: now },
  events: [],
  refund: [],
})

/** Fails the audit and refunds its quota. */
export const failedAudit = (
  audit: GrowthAudit,
  error: string,
  { taken, now }: { taken: TakenQuota; now: Date },
): FinishedGeneration<GrowthAudit> => ({
  record: { ...audit, status: 'failed', error, updated_at: now },
  events: [],
  refund: refund(taken, taken.amount),
})

export interface AuditBrief {
  /** Posts old enough to count. */
  posts: CountedPost[]
  tooYoung: number
  timeZone: string
  products: string[]
  /** Notes of the workspace's learnings, by id. */
  learnings: ReadonlyMap<string, string>
}

/** What code finds in the numbers. Learnings are separate records. */
export type Findings = Omit<AuditResult, 'learnings' | 'not_added'>

const valueBy = ({ metrics }: CountedPost, measure: GroupComparison['measure']): number =>
  (measure === 'impressions' ? metrics.impressions : performanceOf(metrics)) ?? 0

const evidence = (
  posts: CountedPost[],
  { members, measure, interval }: GroupComparison,
): string[] => {
  const value = (index: number): number => valueBy(posts[index]!, measure)
  const sign = interval.low > 0 ? -1 : 1
  const order = members.toSorted((one, other) => sign * (value(one) - value(other)))
  return order.flatMap((index) => posts[index]!.item_id ?? []).slice(0, auditLimits.evidence)
}

const claimOf = (
  { posts, learnings }: AuditBrief,
  sure: string,
  comparison: GroupComparison,
): Claim => {
  const { members: _, ...claim } = comparison
  return {
    ...claim,
    item_ids: evidence(posts, comparison),
    wording: wordingOf(claim, labelOf(claim, learnings), sure),
  }
}

const toRanked = (post: CountedPost): Ranked => ({
  item_id: post.item_id,
  text:
    post.text.length > EXCERPT ? `${post.text.slice(0, EXCERPT - 1).toWellFormed()}…` : post.text,
  impressions: post.metrics.impressions,
  reactions: reactions(post.metrics),
  engagement_rate: engagementRate(post.metrics),
})

/** The best and the worst posts, without overlap. All are of the same basis. */
const extremes = (posts: CountedPost[]): Pick<Findings, 'best' | 'worst'> => {
  const value = ({ metrics }: CountedPost): number | null => performanceOf(metrics)
  const order = posts
    .filter((post) => value(post) !== null)
    .toSorted((one, other) => value(other)! - value(one)!)
  const count = Math.min(RANKED, Math.floor(order.length / 2))
  return {
    best: order.slice(0, Math.max(count, Math.min(1, order.length))).map(toRanked),
    worst: order
      .slice(order.length - count)
      .toReversed()
      .map(toRanked),
  }
}

const alikeOf = (posts: CountedPost[]): CountedPost[] => {
  const basis = commonBasis(posts.map(({ metrics }) => metrics))
  return posts.filter(({ metrics }) => basisOf(metrics) === basis)
}

/** How posts are compared whose network counts no impressions; empty if there are none. */
const noteOf = (posts: CountedPost[], alike: CountedPost[]): { note?: string } => {
  const uncounted = posts.filter(({ metrics }) => basisOf(metrics) === 'posts').length
  if (uncounted === 0) return {}
  if (uncounted === posts.length) return { note: `Compared by ${PER_POST}.` }
  return {
    note: `${uncounted} of ${posts.length} posts are compared by ${PER_POST}, and only with each other. The sums, the best and the worst are those of the ${alike.length} posts that are counted like most.`,
  }
}

const sampleOf = ({ posts, tooYoung }: AuditBrief, comparisons: number): Findings['sample'] => {
  const alike = alikeOf(posts)
  const seen = alike.flatMap(({ metrics }) => metrics.impressions ?? [])
  const times = posts.flatMap(({ posted_at }) => posted_at?.getTime() ?? [])
  const at = (time: number): string | null =>
    Number.isFinite(time) ? new Date(time).toISOString() : null
  return {
    items: posts.length,
    too_young: tooYoung,
    impressions:
      seen.length < alike.length ? null : seen.reduce((sum, impressions) => sum + impressions, 0),
    reactions: alike.reduce((sum, { metrics }) => sum + reactions(metrics), 0),
    from: at(Math.min(...times)),
    to: at(Math.max(...times)),
    comparisons,
    ...noteOf(posts, alike),
  }
}

/** All statistics of an audit. No model takes part. */
export const findingsOf = (brief: AuditBrief): Findings => {
  const { posts, timeZone, products } = brief
  const setting = { timeZone, products }
  const compared = compareAll(
    posts.map((post) => {
      const { impressions } = post.metrics
      return {
        impressions,
        reactions: Math.min(impressions ?? Number.POSITIVE_INFINITY, reactions(post.metrics)),
        features: featuresOf(post, setting),
      }
    }),
  )
  const claims = (all: GroupComparison[]): Claim[] =>
    all.slice(0, auditLimits.claims).map((one) => claimOf(brief, SURE, one))
  const nothing = compared.sure.length === 0
  const needed =
    compared.made === 0 || compared.needed === null ? 2 * LEAST_GROUP : 2 * compared.needed
  return {
    sample: sampleOf(brief, compared.made),
    compared: compared.all.slice(0, auditLimits.compared).map(({ members: _, ...one }) => one),
    worked: claims(compared.sure.filter(({ interval }) => interval.low > 0)),
    flopped: claims(compared.sure.filter(({ interval }) => interval.high < 0)),
    hypotheses: compared.likely
      .filter(({ interval }) => interval.low > 0)
      .slice(0, auditLimits.hypotheses)
      .map((one) => claimOf(brief, LIKELY, one)),
    ...extremes(alikeOf(posts)),
    not_enough_data: nothing
      ? { items: posts.length, needed, message: notEnough(posts.length, compared) }
      : null,
  }
}
