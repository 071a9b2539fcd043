import type { batches } from '#contract/growth/batches'
import { admitBatch } from '#decisions/growth/admission'
import { requireFeature } from '#domain/app/plan'
import type { Batch } from '#domain/growth/drafting/batch'
import { requireActive } from '#domain/growth/drafting/growth-channel'
import { type Item, itemView } from '#domain/growth/drafting/item'
import { requireRunning } from '#domain/growth/learning/experiment'
import { fail } from '#kernel/errors'
import type { Sql } from '#store/engine/db'
import type { Gate } from '#store/engine/letter'
import { batchById, listBatches } from '#store/growth/batches'
import { lockExperiment } from '#store/growth/experiments'
import { channelNamed } from '#store/growth/growth-channels'
import { itemsOfBatch } from '#store/growth/items'
import type { Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

const DEFAULT_COUNT = 5

const requireOpen = async (sql: Sql, { experiment_id, gate }: { experiment_id: string; gate: Gate }): Promise<void> => {
  requireRunning(await lockExperiment(sql, experiment_id), 'draft')
  requireFeature(gate.plan, 'experiments')
}

export const batchHandlers: Handlers<typeof batches> = {
  async create({ count = DEFAULT_COUNT, focus = '', experiment_id = null }, { sql, gate }) {
    requireActive(await channelNamed(sql, 'posts'))
    if (experiment_id) await requireOpen(sql, { experiment_id, gate })
    const { record: batch, effects } = admitBatch({ gate, origin: 'manual' }, { count, focus, experiment_id })
    return { reply: { batch }, effects, refId: batch.id }
  },

  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<Batch>(listBatches(page)), page.limit)
    return { batches: rows, next_cursor }
  },

  async get({ id }, { read }) {
    // The batch before its items: read the other way round, a batch that settles in between would be ready without items.
    const [batch] = await read<Batch>(batchById(id))
    if (!batch) return fail('not_found', 'no such batch')
    const items = await read<Item>(itemsOfBatch(id))
    return { batch: { ...batch, items: items.map(itemView) } }
  },
}
