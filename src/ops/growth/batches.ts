import type { batches } from '#contract/growth/batches'
import { admitBatch } from '#decisions/growth/admission'
import { generationStores } from '#decisions/growth/generations'
import { requireFeature } from '#domain/app/plan'
import { batchView } from '#domain/growth/drafting/batch'
import { requireActiveChannel } from '#domain/growth/drafting/growth-channel'
import { itemView } from '#domain/growth/drafting/item-view'
import { requireRunning } from '#domain/growth/learning/experiment'
import { found } from '#kernel/errors'
import { loadBy, when } from '#store/engine/load'
import { batchPart, listBatches } from '#store/growth/batches'
import { experimentPart } from '#store/growth/experiments'
import { channelPart } from '#store/growth/growth-channels'
import { itemsOfBatchPart } from '#store/growth/items'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { periodOf } from '../engine/time-input.ts'
import { cancelling } from './shared/cancelling.ts'

const DEFAULT_COUNT = 5

export const batchHandlers: Handlers<typeof batches> = {
  create: loading(
    ({ experiment_id }) => ({
      channel: channelPart('posts'),
      experiment: when(experiment_id !== undefined, experimentPart(experiment_id!)),
    }),
    (
      { count = DEFAULT_COUNT, focus = '', experiment_id = null },
      { gate },
      { channel, experiment },
    ) => {
      requireActiveChannel(channel)
      if (experiment_id !== null) {
        requireRunning(found(experiment, 'no such experiment'), 'draft')
        requireFeature(gate.plan, 'experiments')
      }
      const { record: batch, effects } = admitBatch(
        { gate, origin: 'manual' },
        { count, focus, experiment_id },
      )
      return { reply: { batch: batchView(batch) }, effects, refId: batch.id }
    },
  ),

  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(
      await read(listBatches({ ...page, ...periodOf(input), status: input.status })),
      page.limit,
    )
    return { batches: rows.map(batchView), next_cursor }
  },

  async get({ id }, { read }) {
    const { batch, items } = await loadBy(read, {
      batch: batchPart(id),
      items: itemsOfBatchPart(id),
    })
    return {
      batch: {
        ...batchView(found(batch, 'no such batch')),
        items: items.map(itemView),
      },
    }
  },

  cancel: cancelling('batch', generationStores.batch, (record) => ({ batch: batchView(record) })),
}
