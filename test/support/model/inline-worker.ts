import { draftComputations, type ModelWorker } from '#port/model/worker/computations'

/** Computes in the calling thread. */
export const inlineWorker: ModelWorker = {
  async compute(name, input, signal) {
    signal.throwIfAborted()
    return draftComputations[name](input as never) as never
  },
}
