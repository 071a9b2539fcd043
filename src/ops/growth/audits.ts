import type { audits } from '#contract/growth/audits'
import { admitAudit } from '#decisions/growth/admission'
import { AUDIT_DAYS, type GrowthAudit, type SuppliedMetrics } from '#domain/growth/learning/growth-audit'
import { fail } from '#kernel/errors'
import { growthAuditById, itemsForAudit } from '#store/growth/growth-audits'
import type { Handlers } from '../call.ts'

const auditView = ({ given: _, ...audit }: GrowthAudit) => audit

const invalid = (path: string, message: string): never => fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

type MetricsInput = Partial<SuppliedMetrics> & Pick<SuppliedMetrics, 'impressions' | 'likes' | 'replies' | 'reposts'>

/** Metrics with all fields filled in. Throws `invalid_input` for an entry with neither item nor text. */
const normalise = (given: MetricsInput[]): SuppliedMetrics[] =>
  given.map(({ item_id = null, text = null, posted_at = null, quotes = 0, clicks = 0, ...counts }, index) => {
    if (!item_id && !text?.trim()) invalid(`metrics.${index}`, 'needs item_id or text')
    return { item_id: item_id?.toLowerCase() ?? null, text, posted_at, quotes, clicks, ...counts }
  })

export const growthAuditHandlers: Handlers<typeof audits> = {
  async create({ days = AUDIT_DAYS, metrics }, { sql, gate }) {
    const given = metrics ? normalise(metrics as MetricsInput[]) : null
    const ids = [...new Set((given ?? []).flatMap(({ item_id }) => item_id ?? []))]
    if (ids.length > 0 && (await itemsForAudit(sql, ids)).length < ids.length) fail('not_found', 'no such item')
    const { record, effects } = admitAudit({ gate, origin: 'manual' }, { days, given })
    return { reply: { audit: auditView(record) }, effects, refId: record.id }
  },

  async get({ id }, { read }) {
    const [audit] = await read<GrowthAudit>(growthAuditById(id))
    return audit ? { audit: auditView(audit) } : fail('not_found', 'no such audit')
  },
}
