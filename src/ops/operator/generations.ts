import type { generations } from '#contract/operator/generations'
import { lockBatch } from '#store/batches'
import { failedEffects } from '#store/settled'
import { workOf } from '#store/work'
import type { Handlers } from '../call.ts'

const CANCELLED = { status: 'failed', error: 'cancelled' } as const

export const generationHandlers: Handlers<typeof generations> = {
  async cancel({ id }, { sql, gate, lanes }) {
    const batch = await lockBatch(sql, id)
    const work = await workOf(sql, 'batch', id)
    // No work is left of one that is over.
    if (!work) return { reply: { generation: { id, status: batch.status, error: batch.error } } }
    lanes.recall((live) => live.id === work.id)
    const effects = failedEffects(batch, CANCELLED.error, { now: gate.now, work })
    return { reply: { generation: { id, ...CANCELLED } }, effects }
  },
}
