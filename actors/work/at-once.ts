import type { Claiming, Lane } from '#actors/engine/lane'
import type { Decision } from '#actors/engine/letter'
import type { Work } from '#store/engine/work'
import { finishWork } from './decisions.ts'

const LEASE_MS = 10_000

/** A lane that decides everything in its claims. Nothing of it runs beside the mailbox. */
export const decidedAtOnce = (
  kind: Work['kind'],
  decide: (claiming: Claiming) => Promise<Decision<void>>,
): Lane<never, never> => ({
  kind,
  leaseMs: LEASE_MS,
  priority: 'background',
  claim: async (sql, gate, work) => ({ decision: await decide({ sql, gate, work }) }),
  run: () => Promise.reject(new Error(`nothing of the lane ${kind} runs beside the mailbox`)),
  settle: async (_sql, _gate, { work }) => finishWork(work),
  crashed: () => undefined,
})
