import type { audits } from '#contract/growth/audits'
import { growthAuditRecord } from '#contract/records/growth/growth-audit'
import { viewOf } from '#contract/records/view'
import { admitAudit } from '#decisions/growth/admission'
import { generationStores } from '#decisions/growth/generations'
import {
  AUDIT_DAYS,
  type GrowthAudit,
  type SuppliedMetrics,
} from '#domain/growth/learning/growth-audit'
import { fail, refuseField } from '#kernel/errors'
import { when } from '#store/engine/load'
import { existingItemCount, growthAuditById, listGrowthAudits } from '#store/growth/growth-audits'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { periodOf } from '../engine/time-input.ts'
import { cancelling } from './shared/cancelling.ts'

const auditView = viewOf(growthAuditRecord)

const wholeView = (audit: GrowthAudit) => {
  const { result } = audit
  return { ...auditView(audit), result: result && { ...result, compared: result.compared ?? [] } }
}

type MetricsInput = Partial<SuppliedMetrics> &
  Pick<SuppliedMetrics, 'likes' | 'replies' | 'reposts'>

/**
 * Metrics with all fields filled in. Throws `invalid_input` for an entry with neither item nor
 * text.
 */
const normalise = (given: MetricsInput[]): SuppliedMetrics[] =>
  given.map((one, index) => {
    const { item_id = null, text = null, posted_at = null, impressions = null, clicks = null } = one
    if (!item_id && !text?.trim()) refuseField(`metrics.${index}`, 'needs item_id or text')
    const { likes, replies, reposts, quotes = 0 } = one
    const counts = { impressions, likes, replies, reposts, quotes, clicks }
    return { item_id: item_id?.toLowerCase() ?? null, text, posted_at, ...counts }
  })

/** The items that the metrics name, each once. */
const idsIn = (given: MetricsInput[]): string[] => [
  ...new Set(given.flatMap(({ item_id }) => item_id?.toLowerCase() ?? [])),
]

export const growthAuditHandlers: Handlers<typeof audits> = {
  create: loading(
    ({ metrics = [] }) => {
      const ids = idsIn(metrics as MetricsInput[])
      return { items: when(ids.length > 0, existingItemCount(ids)) }
    },
    ({ days = AUDIT_DAYS, metrics }, { gate }, { items }) => {
      const given = metrics ? normalise(metrics as MetricsInput[]) : null
      if (items && items.count < idsIn(metrics as MetricsInput[]).length)
        fail('not_found', 'no such item')
      const { record, effects } = admitAudit({ gate, origin: 'manual' }, { days, given })
      return { reply: { audit: auditView(record) }, effects, refId: record.id }
    },
  ),

  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(
      await read(listGrowthAudits({ ...page, ...periodOf(input), status: input.status })),
      page.limit,
    )
    return { audits: rows.map(wholeView), next_cursor }
  },

  async get({ id }, { read }) {
    const [audit] = await read(growthAuditById(id))
    return audit ? { audit: wholeView(audit) } : fail('not_found', 'no such audit')
  },

  cancel: cancelling('growth_audit', generationStores.growth_audit, (record) => ({
    audit: auditView(record),
  })),
}
