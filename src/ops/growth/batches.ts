import type { batches } from '#contract/growth/batches'
import { type Batch, newBatch } from '#domain/batch'
import { type Item, itemView } from '#domain/item'
import { takeCap, takeQuota } from '#domain/plan'
import { fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { batchById, insertBatch, listBatches } from '#store/batches'
import { itemsOfBatch } from '#store/items'
import type { Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

const DEFAULT_COUNT = 5

export const batchHandlers: Handlers<typeof batches> = {
  async create({ count = DEFAULT_COUNT, focus = '' }, { gate }) {
    const taken = takeQuota(gate, 'posts', count)
    const capped = takeCap(gate, 'create_batch')
    const batch = newBatch(newId(), { count, focus, now: gate.now })
    const work = {
      id: newId(),
      lane: 'generation',
      kind: 'batch',
      refId: batch.id,
      origin: 'manual',
      runAt: gate.now,
      payload: { taken },
    } as const
    return { reply: { batch }, effects: { writes: [insertBatch(batch)], work: [work], spend: [taken, capped] }, refId: batch.id }
  },

  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<Batch>(listBatches(page)), page.limit)
    return { batches: rows, next_cursor }
  },

  async get({ id }, { read }) {
    // Read first, so that a batch that settles in between is never seen ready without its items.
    const [batch] = await read<Batch>(batchById(id))
    if (!batch) return fail('not_found', 'no such batch')
    const items = await read<Item>(itemsOfBatch(id))
    return { batch: { ...batch, items: items.map(itemView) } }
  },
}
