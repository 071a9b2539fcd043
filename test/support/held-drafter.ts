/** A drafter that writes when a test lets it. */
import type { Draft, DraftBrief, DraftSet } from '#domain/draft'
import type { Drafter } from '#port/model/drafter'
import { type Gate, newGate } from './letters.ts'

export interface HeldDrafter {
  drafter: Drafter
  /** Resolves when so many calls have begun, since the start of all. */
  begun(calls: number): Promise<void>
  /** Lets the calls that wait, and those to come, write. */
  release(): void
  /** From now on calls wait again. */
  hold(): void
  /** Focuses of the calls whose signal aborted. */
  aborted: string[]
}

const draftOf = ({ seed }: DraftBrief, index: number): Draft => ({
  body: `Draft ${index} of ${seed}`,
  format: 'point',
  hook: 'none',
  rationale: 'for a test',
  stories: [],
  learnings: [],
})

const setOf = (brief: DraftBrief): DraftSet => ({
  drafts: Array.from({ length: brief.count }, (_, index) => draftOf(brief, index)),
  model: 'held',
  usage: { input_tokens: 0, output_tokens: 0, cost_micros: 0 },
})

export const heldDrafter = (): HeldDrafter => {
  const aborted: string[] = []
  let [gate, calls, told]: [Gate, number, Gate] = [newGate(), 0, newGate()]
  const draft = async (brief: DraftBrief, signal: AbortSignal): Promise<DraftSet> => {
    calls++
    told.open()
    told = newGate()
    const { promise: stopped, reject } = Promise.withResolvers<never>()
    const stop = () => {
      aborted.push(brief.focus)
      reject(signal.reason)
    }
    signal.throwIfAborted()
    signal.addEventListener('abort', stop)
    await Promise.race([gate.opened, stopped]).finally(() => signal.removeEventListener('abort', stop))
    return setOf(brief)
  }
  return {
    drafter: { name: 'held', draft },
    async begun(count) {
      while (calls < count) await told.opened
    },
    release: () => gate.open(),
    hold: () => {
      gate = newGate()
    },
    aborted,
  }
}
