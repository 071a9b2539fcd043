/** Reports: generations made by code alone, and the work that requests one each week. */

import type { Claiming, Lane } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import { admitReport } from '#decisions/growth/admission'
import { briefFacts } from '#decisions/growth/brief-facts'
import { finishEffects, generationStores } from '#decisions/growth/generations'
import { budgetsOf } from '#domain/app/plan'
import type { BriefFacts } from '#domain/growth/brief/brief'
import { actionsOf } from '#domain/growth/brief/brief-rules'
import {
  newReport,
  type Report,
  type ReportBrief,
  type ReportData,
  readyReport,
  reportData,
  skippedReport,
  weekBounds,
  weekly,
} from '#domain/growth/learning/report'
import { reportMarkdown } from '#domain/growth/learning/report-text'
import type { Basis } from '#domain/growth/metrics'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { firstAllowed } from '#port/network/others-post'
import { limitsFor, type Networks } from '#port/network/registry'
import type { Effects, Gate } from '#store/engine/letter'
import { briefRecord } from '#store/growth/brief'
import { currentProfile } from '#store/growth/profiles'
import { figuresByDay, insertReport, isReported, rankedPosts } from '#store/growth/reports'
import { decidedAtOnce } from '../at-once.ts'
import { requeue } from '../decisions.ts'
import type { GenerationWork } from './generation.ts'

const MOST_RANKED = 500

interface Written {
  data: ReportData
  markdown: string
}

const basisOn = ({ uncounted }: Networks, network: string): Basis =>
  uncounted.includes(network) ? 'posts' : 'impressions'

const waitingIn = ({ items }: BriefFacts): ReportData['waiting'] => ({
  approvals: items.drafts.count + items.articles.count,
  scheduled: items.scheduled.count,
  unconfirmed: items.review.count + items.unconfirmed.count,
})

export const report: GenerationWork<Report, ReportBrief, Written> = {
  kind: 'report',
  store: generationStores.report,
  async brief(sql, networks, record) {
    const bounds = weekBounds(record.week, record.time_zone)
    const [state] = await briefRecord({ most: 1 })(sql)
    const { network } = state!.accounts
    const { tier } = limitsFor(networks, network === null ? undefined : { network })
    const facts = briefFacts(state!, { tier, engageBy: firstAllowed(networks, state!.best_signal) })
    const { now, counters, plan, billing, overrides } = state!
    const { basis, days } = await figuresByDay(sql, {
      bounds,
      basis: network === null ? undefined : basisOn(networks, network),
      uncounted: networks.uncounted,
    })
    const span = { from: bounds[7]!, to: bounds[14]! }
    return {
      report: record,
      now,
      basis,
      others: days.slice(7).reduce((sum, { others }) => sum + others, 0),
      waiting: waitingIn(facts),
      reads: facts.reads,
      days: days.map(({ others: _, ...figures }) => figures),
      ranked: await rankedPosts(sql, { ...span, basis, limit: MOST_RANKED }),
      quotas: budgetsOf({ plan: { plan, billing, overrides }, counters, now }).quotas,
      next: actionsOf(facts).map(({ title, why, operation }) => ({ title, why, operation })),
    }
  },
  async write(_drafter, brief, signal) {
    signal.throwIfAborted()
    const data = reportData(brief)
    return { data, markdown: reportMarkdown(brief.report, data) }
  },
  isFree: true,
  tooLate: 'ask again later',
  delivered: async (record, written, { now, work }) =>
    finishEffects(generationStores.report.save, readyReport(record, { ...written, now }), work),
}

/**
 * Requests the weekly report. If the plan refuses, a skipped report with the reason appears in the
 * list.
 */
const requestReport = async (
  gate: Gate,
  fields: Pick<Report, 'week' | 'time_zone'>,
): Promise<Effects | Date> => {
  try {
    return admitReport({ gate, origin: 'automatic' }, fields).effects
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    if (cause.code === 'rate_limited')
      return new Date(gate.now.getTime() + (cause.retryAfter ?? 3_600) * 1_000)
    const skipped = skippedReport(
      newReport(newId(), { ...fields, origin: 'automatic', now: gate.now }),
      cause.message,
    )
    return { writes: [insertReport(skipped)] }
  }
}

const requestWeekly = async ({ sql, gate, work }: Claiming): Promise<Decision<void>> => {
  const { time_zone } = (await currentProfile(sql)).profile
  const due = weekly(gate.now, { timeZone: time_zone, since: new Date(String(work.payload.since)) })
  if (due.kind === 'wait' || (await isReported(sql, due.week))) return requeue(work, due.next)
  const result = await requestReport(gate, { week: due.week, time_zone })
  return result instanceof Date ? requeue(work, result) : requeue(work, due.next, result)
}

export const weeklyLane = (): Lane<never, never> => decidedAtOnce('weekly_report', requestWeekly)
