/** Work that can be left alone for a while wherever it yields. */
export type Steps<T> = Generator<void, T>

/** Carries out long work a slice at a time. */
export interface Pace {
  /** What the work returns or throws; rejects with the reason of `signal` at the first slice after it aborts. */
  run<T>(work: Steps<T>, signal: AbortSignal): Promise<T>
}

/** Short beside what a request takes, long beside what a turn of the event loop costs. */
const SLICE_MS = 8

/**
 * All work of one pace takes turns, one slice in a turn of the event loop, so that the loop is held for no longer than a
 * slice and the step that ends it, however much work there is. A slice of 0 ms is a single step.
 */
export const createPace = (sliceMs = SLICE_MS): Pace => {
  let latest: Promise<void> = Promise.resolve()
  const nextTurn = (): Promise<void> => {
    latest = latest.then(() => new Promise((resolve) => setImmediate(resolve)))
    return latest
  }
  return {
    async run(work, signal) {
      for (;;) {
        await nextTurn()
        signal.throwIfAborted()
        const ends = performance.now() + sliceMs
        do {
          const step = work.next()
          if (step.done) return step.value
        } while (performance.now() < ends)
      }
    },
  }
}

/** The result of work that need not be interrupted. */
export const atOnce = <T>(work: Steps<T>): T => {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
