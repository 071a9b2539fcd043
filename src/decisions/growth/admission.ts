/**
 * Admission of generations: the record, its work and what it spends, whether a person or a rule
 * requested it.
 */
import { articles } from '#contract/growth/articles'
import { audits } from '#contract/growth/audits'
import { batches } from '#contract/growth/batches'
import { engagements } from '#contract/growth/engagements'
import { itemRedrafts } from '#contract/growth/item-redrafts'
import { reports } from '#contract/growth/reports'
import type { CapKey, QuotaKey } from '#contract/limits'
import { requireFeature, takeCap, takeQuota } from '#domain/app/plan'
import { type Article, newArticle } from '#domain/growth/drafting/article'
import { type Batch, type BatchRequest, newBatch } from '#domain/growth/drafting/batch'
import {
  type Engagement,
  type EngagementRequest,
  type LengthRule,
  newEngagement,
  type Preflight,
  requireAllowed,
  requireFirst,
} from '#domain/growth/drafting/engagement'
import type { Generation } from '#domain/growth/drafting/generation'
import type { Item } from '#domain/growth/drafting/item'
import { newRedraft, type Redraft } from '#domain/growth/drafting/redraft'
import type { Author } from '#domain/growth/drafting/revision'
import { byRequest } from '#domain/growth/drafting/source'
import { type GrowthAudit, newAudit } from '#domain/growth/learning/growth-audit'
import { newReport, type Report } from '#domain/growth/learning/report'
import { newId } from '#kernel/ids'
import type { Query } from '#store/engine/db'
import type { Effects, Gate, NewWork } from '#store/engine/letter'
import { insertArticle } from '#store/growth/articles'
import { insertBatch } from '#store/growth/batches'
import { insertEngagement } from '#store/growth/engagements'
import { insertGrowthAudit } from '#store/growth/growth-audits'
import { insertRedraft } from '#store/growth/redrafts'
import { insertReport } from '#store/growth/reports'
import { newWork } from '../work.ts'
import type { GenerationKind } from './generations.ts'

export interface AdmittedGeneration<R extends Generation> {
  record: R
  effects: Effects
}

interface AdmissionContext {
  gate: Gate
  /** `automatic`: no person requested it just now, so the kill switch holds it. */
  origin: NewWork['origin']
}

interface Admission<R> extends AdmissionContext {
  kind: GenerationKind
  record: R
  quota: QuotaKey
  amount: number
  cap: CapKey
  insert: Query
}

/** Throws the plan's refusals: billing first, then the month's quota, then the hourly cap. */
const admit = <R extends Generation>({
  gate,
  origin,
  kind,
  record,
  quota,
  amount,
  cap,
  insert,
}: Admission<R>): AdmittedGeneration<R> => {
  const taken = takeQuota(gate, quota, amount)
  const capped = takeCap(gate, cap)
  const work = newWork(kind, { refId: record.id, origin, runAt: gate.now, payload: { taken } })
  return { record, effects: { writes: [insert], work: [work], spend: [taken, capped] } }
}

export const admitBatch = (
  context: AdmissionContext,
  request: BatchRequest,
): AdmittedGeneration<Batch> => {
  const record = newBatch(newId(), { ...request, now: context.gate.now })
  const { quota, cap } = batches.create
  return admit({
    ...context,
    kind: 'batch',
    record,
    quota,
    amount: request.count,
    cap,
    insert: insertBatch(record),
  })
}

export const admitArticle = (
  context: AdmissionContext,
  request: Pick<Article, 'topic' | 'length' | 'outline'> & { rule_id?: string },
): AdmittedGeneration<Article> => {
  const { feature, quota, cap } = articles.create
  requireFeature(context.gate.plan, feature)
  const record = newArticle(newId(), { ...request, now: context.gate.now })
  return admit({
    ...context,
    kind: 'article',
    record,
    quota,
    amount: 1,
    cap,
    insert: insertArticle(record),
  })
}

export const admitAudit = (
  context: AdmissionContext,
  request: Pick<GrowthAudit, 'days' | 'given'>,
): AdmittedGeneration<GrowthAudit> => {
  const { feature, quota, cap } = audits.create
  requireFeature(context.gate.plan, feature)
  const record = newAudit(newId(), { ...request, now: context.gate.now })
  return admit({
    ...context,
    kind: 'growth_audit',
    record,
    quota,
    amount: 1,
    cap,
    insert: insertGrowthAudit(record),
  })
}

/** Only the weekly report is an `automatic` record. One that a rule requests is `manual`. */
export const admitReport = (
  context: AdmissionContext,
  request: Pick<Report, 'week' | 'time_zone'> & Partial<Pick<Report, 'origin'>>,
): AdmittedGeneration<Report> => {
  const { feature, quota, cap } = reports.create
  requireFeature(context.gate.plan, feature)
  const record = newReport(newId(), { origin: context.origin, ...request, now: context.gate.now })
  return admit({
    ...context,
    kind: 'report',
    record,
    quota,
    amount: 1,
    cap,
    insert: insertReport(record),
  })
}

export const admitRedraft = (
  context: AdmissionContext,
  request: { item: Item; open: boolean; hint: string },
): AdmittedGeneration<Redraft> => {
  const { quota, cap } = itemRedrafts.redraft
  const record = newRedraft(newId(), { ...request, now: context.gate.now })
  return admit({
    ...context,
    kind: 'redraft',
    record,
    quota,
    amount: 1,
    cap,
    insert: insertRedraft(record),
  })
}

/**
 * The network's limits and its answer to the action, which the port knows, and what was already
 * done there.
 */
interface OnNetwork {
  rule: LengthRule
  preflight: Preflight
  /** The open or executed engagement of the same action on the post. */
  other: Pick<Engagement, 'id' | 'status'> | undefined
}

/**
 * Checks the network's rules before the plan's, and before a model is called. `requested`: the rule
 * that requests it, or who does and writes the body. Throws `conflict`, or the plan's refusals.
 */
export const admitEngagement = (
  { gate, origin, requested }: AdmissionContext & { requested: { rule: string } | { by: Author } },
  { request, rule, preflight, other }: OnNetwork & { request: EngagementRequest },
): { record: Engagement; effects: Effects } => {
  requireFirst(request.action, other)
  requireAllowed(preflight)
  const { feature, cap } = engagements.create
  requireFeature(gate.plan, feature)
  const spend = [takeCap(gate, cap)]
  const { engagement, events } = newEngagement(newId(), request, {
    rule,
    source: byRequest(requested),
    by: 'by' in requested ? requested.by : null,
    now: gate.now,
  })
  const effects: Effects = { writes: [insertEngagement(engagement)], events, spend }
  if (engagement.status === 'drafted') return { record: engagement, effects }
  const work = newWork('engagement', { refId: engagement.id, origin, runAt: gate.now })
  return { record: engagement, effects: { ...effects, work: [work] } }
}
