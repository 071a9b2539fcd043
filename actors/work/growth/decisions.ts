/** What lanes say of their work alike. */

import type { Decision } from '#actors/engine/letter'
import type { Effects } from '#store/engine/letter'
import type { Work } from '#store/engine/work'

/** The row of work goes back to the queue until then. */
export const requeued = ({ id }: Pick<Work, 'id'>, runAt: Date, effects: Effects = {}): Decision<void> => ({
  reply: undefined,
  effects: { ...effects, requeued: [{ id, runAt }] },
})

/** The row of work is done with. */
export const finished = ({ id }: Pick<Work, 'id'>, effects: Effects = {}): Decision<void> => ({
  reply: undefined,
  effects: { ...effects, settled: [id] },
})
