import { computations, type ModelWorker } from '#port/model/worker/computations'

/** Computes in the calling thread. */
export const inlineWorker: ModelWorker = {
  async compute(name, input, signal) {
    signal.throwIfAborted()
    return computations[name](input as never) as never
  },
}
