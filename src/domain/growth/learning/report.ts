/**
 * A report on a week, Monday to Sunday in the workspace's time zone: queued → generating → ready |
 * failed.
 */

import type { reportRecord } from '#contract/records/growth/report'
import type { RowOf } from '#contract/records/record'
import type { LimitUsage } from '#domain/app/plan'
import type { ReadBudget } from '#domain/app/read-budget'
import { addDays, dayAt, mondayOf, startOfDay } from '#kernel/calendar'
import { nextTime } from '#kernel/cron'
import {
  type FinishedGeneration,
  newGeneration,
  refund,
  type TakenQuota,
} from '../drafting/generation.ts'
import { type Basis, PER_POST } from '../metrics.ts'

export type Report = RowOf<typeof reportRecord>
export type ReportData = NonNullable<Report['data']>
export type ReportItem = NonNullable<ReportData['best']>
export type Totals = ReportData['totals']
export type Figures = Omit<Totals, 'engagement_rate' | 'reactions_per_post'>

/** Every Monday morning, for the week before. */
const REPORT_CRON = '0 7 * * 1'

export const newReport = (
  id: string,
  { now, ...fields }: Pick<Report, 'origin' | 'week' | 'time_zone'> & { now: Date },
): Report => ({
  ...newGeneration(id, now),
  ...fields,
  data: null,
  markdown: null,
})

export const readyReport = (
  report: Report,
  { data, markdown, now }: { data: ReportData; markdown: string; now: Date },
): FinishedGeneration<Report> => ({
  record: { ...report, status: 'ready', data, markdown, updated_at: now },
  events: [],
  refund: [],
})

/** Fails the report and refunds its quota. */
export const failedReport = (
  report: Report,
  error: string,
  { taken, now }: { taken: TakenQuota; now: Date },
): FinishedGeneration<Report> => ({
  record: { ...report, status: 'failed', error, updated_at: now },
  events: [],
  refund: refund(taken, taken.amount),
})

/**
 * A report that the plan refuses. It fails with the code, so that people see why the week has none.
 */
export const skippedReport = (report: Report, error: string): Report => ({
  ...report,
  status: 'failed',
  error,
})

/** The week that contains `now`, by its Monday. */
export const weekAt = (now: Date, timeZone: string): string => mondayOf(dayAt(now, timeZone))

/** The start of each day of the previous week and of this one, and the end: 15 instants. */
export const weekBounds = (week: string, timeZone: string): Date[] =>
  Array.from({ length: 15 }, (_, index) => startOfDay(addDays(week, index - 7), timeZone))

/** What a workspace's weekly work does now. */
export type Weekly =
  /** The report on `week` is due. */
  { kind: 'report'; week: string; next: Date } | { kind: 'wait'; next: Date }

/**
 * Reports no weeks that ended before `since`. If the process slept through the morning, the report
 * comes late.
 */
export const weekly = (
  now: Date,
  { timeZone, since }: { timeZone: string; since: Date },
): Weekly => {
  const monday = weekAt(now, timeZone)
  const begun = startOfDay(monday, timeZone)
  const due = nextTime(REPORT_CRON, timeZone, new Date(begun.getTime() - 1_000))!
  if (now < due) return { kind: 'wait', next: due }
  const next = nextTime(REPORT_CRON, timeZone, now)!
  return begun > since
    ? { kind: 'report', week: addDays(monday, -7), next }
    : { kind: 'wait', next }
}

/** A report's input. */
export interface ReportBrief {
  report: Report
  now: Date
  /**
   * That of the default account; without one, that of most posts. Posts of the other basis are left
   * out, so that nothing is summed or compared that is counted differently.
   */
  basis: Basis
  /** How many posts of the week are left out. */
  others: number
  /** 14 days: the previous week, then this one. */
  days: Figures[]
  /** Posts of the week with metrics, the best first. */
  ranked: ReportItem[]
  waiting: ReportData['waiting']
  quotas: LimitUsage[]
  reads: ReadBudget
  next: ReportData['next']
}

const MOST_NEXT = 5

const rateOf = ({ impressions, reactions }: Figures): number | null =>
  impressions !== null && impressions > 0 ? Math.min(1, reactions / impressions) : null

const perPost = ({ posts, reactions }: Figures): number | null =>
  posts > 0 ? reactions / posts : null

/** Null if one of the days was not counted. */
const sumOf = (counts: (number | null)[]): number | null =>
  counts.reduce((all, count) => (all === null || count === null ? null : all + count), 0)

const totalsOf = (days: Figures[], basis: Basis): Totals => {
  const sum = (key: 'posts' | 'reactions'): number => days.reduce((all, day) => all + day[key], 0)
  const figures = {
    posts: sum('posts'),
    impressions: sumOf(days.map(({ impressions }) => impressions)),
    reactions: sum('reactions'),
    clicks: sumOf(days.map(({ clicks }) => clicks)),
  }
  const totals = { ...figures, engagement_rate: rateOf(figures) }
  return basis === 'posts' ? { ...totals, reactions_per_post: perPost(figures) } : totals
}

const noteOf = ({ basis, others }: Pick<ReportBrief, 'basis' | 'others'>): { note?: string } => {
  const words = basis === 'posts' ? [`Compared by ${PER_POST}.`] : []
  if (others > 0)
    words.push(
      `${others === 1 ? '1 post is left out, since its' : `${others} posts are left out, since their`} network ${basis === 'posts' ? 'counts' : 'does not count'} impressions: what is counted differently is not summed.`,
    )
  return words.length === 0 ? {} : { note: words.join(' ') }
}

const changeOf = (now: number | null, before: number | null): number | null =>
  now === null || !before ? null : now / before - 1

export const reportData = ({
  report,
  now,
  basis,
  others,
  days,
  ranked,
  waiting,
  quotas,
  reads,
  next,
}: ReportBrief): ReportData => {
  const { week, time_zone } = report
  const bounds = weekBounds(week, time_zone)
  const [before, totals] = [totalsOf(days.slice(0, 7), basis), totalsOf(days.slice(7), basis)]
  const keys = Object.keys(totals) as (keyof Totals)[]
  return {
    from: bounds[7]!.toISOString(),
    to: bounds[14]!.toISOString(),
    complete: now >= bounds[14]!,
    ...noteOf({ basis, others }),
    totals,
    before,
    change: Object.fromEntries(
      keys.map((key) => [key, changeOf(totals[key] ?? null, before[key] ?? null)]),
    ) as ReportData['change'],
    days: days.slice(7).map((figures, index) => ({ day: addDays(week, index), ...figures })),
    best: ranked[0] ?? null,
    worst: ranked.length > 1 ? ranked.at(-1)! : null,
    waiting,
    quotas: quotas.map(({ key, used, limit }) => ({ key, used, limit })),
    reads: { tier: reads.tier, used: reads.used, limit: reads.limit },
    next: next.slice(0, MOST_NEXT),
  }
}
