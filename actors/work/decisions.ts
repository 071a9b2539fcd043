/** Decisions that lanes share. */

import type { Decision } from '#actors/engine/letter'
import type { Effects } from '#store/engine/letter'
import type { Work } from '#store/engine/work'

/** Queues the row of work again. */
export const requeue = (
  { id }: Pick<Work, 'id'>,
  runAt: Date,
  effects: Effects = {},
): Decision<void> => ({
  reply: undefined,
  effects: { ...effects, requeued: [{ id, runAt }] },
})

/** Finishes the row of work. */
export const finishWork = ({ id }: Pick<Work, 'id'>, effects: Effects = {}): Decision<void> => ({
  reply: undefined,
  effects: { ...effects, settled: [id] },
})
