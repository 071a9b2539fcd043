/** Rows that throw, hang or keep the process busy: in their claim, their run or their outcome. */
import type { workKinds } from '#contract/work'
import { kindsOfWork } from '#decisions/work'
import type { Work } from '#store/engine/work'
import { fakeLane } from '#test/support/actors/actors'

const STALL_MS = 3_000
export const places = ['claim', 'run', 'settle'] as const
export type Place = (typeof places)[number]
export type Way = 'throws' | 'hangs' | 'is busy'

export interface Poison {
  refId: string
  kind: (typeof workKinds)[number]
  place: Place
  way: Way
  tries: number
}

export const poisons = new Map<string, Poison>()
/** Whether what keeps the process busy keeps the processor busy, too. */
export const stalling = { spins: true }
export const stalls: { from: number; until: number }[] = []

const suffer = async (place: Place, refId: string): Promise<void> => {
  const poison = poisons.get(refId)
  if (poison?.place !== place) return
  poison.tries++
  if (poison.way === 'throws') throw new Error('poison')
  if (poison.way === 'hangs') return new Promise(() => {})
  const from = performance.now()
  if (stalling.spins) while (performance.now() < from + STALL_MS);
  else Bun.sleepSync(STALL_MS)
  stalls.push({ from, until: performance.now() })
}

/** A lane of the kind's own rule, whose rows do nothing unless they are poison. */
export const laneOf = (kind: (typeof workKinds)[number]) => {
  const usual = fakeLane({ kind, crashed: () => 'crashed' })
  const gone = (work: Work) => ({ reply: undefined, effects: { settled: [work.id] } })
  return Object.assign(usual, {
    leaseMs: 2_000,
    // As the table says, most rows whose process died are simply due again.
    ...(kindsOfWork[kind].orphaned === 'requeued' ? { orphaned: undefined as never } : {}),
    claim: async (...[, , work]: Parameters<typeof usual.claim>) => {
      await suffer('claim', work.ref_id)
      return { job: { refId: work.ref_id }, decision: { reply: undefined } }
    },
    run: async ({ refId }: { refId: string }) => {
      await suffer('run', refId)
      return 'done'
    },
    settle: async (...[, gate, { work, outcome }]: Parameters<typeof usual.settle>) => {
      await suffer('settle', work.ref_id)
      // What is busy goes on, as deliveries do; a run that failed ends by its kind's rule.
      const isBusy = poisons.get(work.ref_id)?.way === 'is busy'
      return isBusy && outcome === 'done'
        ? { reply: undefined, effects: { requeued: [{ id: work.id, runAt: gate.now }] } }
        : gone(work)
    },
    ...(kindsOfWork[kind].inVain === 'ends'
      ? { givenUp: async (...[, , work]: Parameters<typeof usual.claim>) => gone(work) }
      : {}),
  })
}
