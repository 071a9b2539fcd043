import type { batches } from '#contract/growth/batches'
import type { Batch } from '#domain/batch'
import { type Item, itemView } from '#domain/item'
import { fail } from '#kernel/errors'
import { admitBatch } from '#store/admission'
import { batchById, listBatches } from '#store/batches'
import { itemsOfBatch } from '#store/items'
import type { Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

const DEFAULT_COUNT = 5

export const batchHandlers: Handlers<typeof batches> = {
  async create({ count = DEFAULT_COUNT, focus = '' }, { gate }) {
    const { record: batch, effects } = admitBatch({ gate, origin: 'manual' }, { count, focus })
    return { reply: { batch }, effects, refId: batch.id }
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
