import { textComputations } from '#port/texts/computations'
import type { Texts } from '#port/texts/texts'

/** Computes in the calling thread. */
export const inlineTexts: Texts = {
  async compute(_, { name, input }, signal) {
    signal.throwIfAborted()
    return (textComputations[name] as (...input: unknown[]) => unknown)(...input) as never
  },
}
