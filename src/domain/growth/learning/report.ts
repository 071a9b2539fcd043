/** A report on a week, Monday to Sunday on the workspace's clocks: queued → generating → ready | failed. */

import type { LimitUsage } from '#domain/app/plan'
import type { ReadBudget } from '#domain/app/read-budget'
import { addDays, dayAt, mondayOf, startOfDay } from '#kernel/calendar'
import { nextTime } from '#kernel/cron'
import { type FinishedGeneration, type Generation, newGeneration, refund, type TakenQuota } from '../drafting/generation.ts'

export interface Report extends Generation {
  origin: 'manual' | 'automatic'
  /** The Monday that it begins on. */
  week: string
  time_zone: string
  data: ReportData | null
  markdown: string | null
}

/** What a day or a week brought: posts that went out, and what all posts gained. */
export interface Figures {
  posts: number
  impressions: number
  reactions: number
  clicks: number
}

export interface ReportItem {
  item_id: string
  text: string
  url: string | null
  impressions: number
  engagement_rate: number | null
}

export interface Totals extends Figures {
  engagement_rate: number | null
}

export interface ReportData {
  from: string
  to: string
  /** False: the week is not over. */
  complete: boolean
  totals: Totals
  before: Totals
  /** As a share of the week before, 0.5: half as much again; null where that had nothing. */
  change: Record<keyof Totals, number | null>
  days: (Figures & { day: string })[]
  best: ReportItem | null
  worst: ReportItem | null
  waiting: { approvals: number; scheduled: number; unconfirmed: number }
  quotas: { key: string; used: number; limit: number }[]
  reads: { tier: string; used: number; limit: number }
  next: { title: string; why: string; operation: string }[]
}

/** Every Monday morning, on the week before. */
const REPORT_CRON = '0 7 * * 1'

export const newReport = (id: string, { now, ...given }: Pick<Report, 'origin' | 'week' | 'time_zone'> & { now: Date }): Report => ({
  ...newGeneration(id, now),
  ...given,
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

/** The record ends with a code; the quota goes back. */
export const failedReport = (
  report: Report,
  error: string,
  { taken, now }: { taken: TakenQuota; now: Date },
): FinishedGeneration<Report> => ({
  record: { ...report, status: 'failed', error, updated_at: now },
  events: [],
  refund: refund(taken, taken.amount),
})

/** One that the plan refuses: it says so in its place, so that people see why there is none of this week. */
export const skippedReport = (report: Report, error: string): Report => ({ ...report, status: 'failed', error })

/** The week that a time lies in. */
export const weekAt = (now: Date, timeZone: string): string => mondayOf(dayAt(now, timeZone))

/** When each day of the week before and of the week begins, and the end: 15 times. */
export const boundsOf = (week: string, timeZone: string): Date[] =>
  Array.from({ length: 15 }, (_, index) => startOfDay(addDays(week, index - 7), timeZone))

/** What the recurring work of a workspace has to do now. */
export type Weekly =
  /** `week` is over and its time has come. */
  { kind: 'report'; week: string; next: Date } | { kind: 'wait'; next: Date }

/** `since`: of weeks that were over before then nothing is reported. A week whose morning was slept through is reported late. */
export const weekly = (now: Date, { timeZone, since }: { timeZone: string; since: Date }): Weekly => {
  const monday = weekAt(now, timeZone)
  const begun = startOfDay(monday, timeZone)
  const due = nextTime(REPORT_CRON, timeZone, new Date(begun.getTime() - 1_000))!
  if (now < due) return { kind: 'wait', next: due }
  const next = nextTime(REPORT_CRON, timeZone, now)!
  return begun > since ? { kind: 'report', week: addDays(monday, -7), next } : { kind: 'wait', next }
}

/** Everything a report is made from. */
export interface ReportBrief {
  report: Report
  now: Date
  /** Of 14 days: the week before, and the week. */
  days: Figures[]
  /** Posts of the week with numbers, the best by engagement first. */
  ranked: ReportItem[]
  waiting: ReportData['waiting']
  quotas: LimitUsage[]
  reads: ReadBudget
  next: ReportData['next']
}

const MOST_NEXT = 5

const rateOf = ({ impressions, reactions }: Figures): number | null => (impressions > 0 ? Math.min(1, reactions / impressions) : null)

const totalsOf = (days: Figures[]): Totals => {
  const sum = (key: keyof Figures): number => days.reduce((all, day) => all + day[key], 0)
  const figures = { posts: sum('posts'), impressions: sum('impressions'), reactions: sum('reactions'), clicks: sum('clicks') }
  return { ...figures, engagement_rate: rateOf(figures) }
}

const changeOf = (now: number | null, before: number | null): number | null => (now === null || !before ? null : now / before - 1)

export const reportData = ({ report, now, days, ranked, waiting, quotas, reads, next }: ReportBrief): ReportData => {
  const { week, time_zone } = report
  const bounds = boundsOf(week, time_zone)
  const [before, totals] = [totalsOf(days.slice(0, 7)), totalsOf(days.slice(7))]
  const keys = Object.keys(totals) as (keyof Totals)[]
  return {
    from: bounds[7]!.toISOString(),
    to: bounds[14]!.toISOString(),
    complete: now >= bounds[14]!,
    totals,
    before,
    change: Object.fromEntries(keys.map((key) => [key, changeOf(totals[key], before[key])])) as ReportData['change'],
    days: days.slice(7).map((figures, index) => ({ day: addDays(week, index), ...figures })),
    best: ranked[0] ?? null,
    worst: ranked.length > 1 ? ranked.at(-1)! : null,
    waiting,
    quotas: quotas.map(({ key, used, limit }) => ({ key, used, limit })),
    reads: { tier: reads.tier, used: reads.used, limit: reads.limit },
    next: next.slice(0, MOST_NEXT),
  }
}
