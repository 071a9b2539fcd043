import type { generations } from '#contract/operator/generations'
import { failWork, findGeneration } from '#decisions/growth/generations'
import type { Handlers } from '../call.ts'

const CANCELLED = { status: 'failed', error: 'cancelled' } as const

export const generationHandlers: Handlers<typeof generations> = {
  async cancel({ id }, { sql, gate, lanes }) {
    const { record, work } = await findGeneration(sql, id)
    // A settled generation has no work.
    if (!work) return { reply: { generation: { id, status: record.status, error: record.error } } }
    lanes.recall((live) => live.id === work.id)
    const effects = await failWork(sql, CANCELLED.error, { now: gate.now, work })
    return { reply: { generation: { id, ...CANCELLED } }, effects }
  },
}
