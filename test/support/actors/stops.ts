import type { Failpoints } from '#kernel/failpoint'

/**
 * Failpoints that each stop one pass, so that each of many workspaces in a process can stop at a
 * different point.
 */
export interface Stops {
  /** Passed to the code under test. */
  at: Failpoints
  /**
   * Stops the next pass of `name`, or the `nth` from now; asked again, the one after that. Once it
   * has stopped, resolves with a function that lets it continue.
   */
  stopNext(name: string, nth?: number): Promise<() => void>
}

export const testStops = (): Stops => {
  const expected = new Map<string, { left: number; arrived: (goOn: () => void) => void }[]>()
  return {
    at(name) {
      const stops = expected.get(name) ?? []
      const [stop] = stops
      if (!stop || --stop.left > 0) return
      stops.shift()
      const { promise, resolve } = Promise.withResolvers<void>()
      stop.arrived(() => resolve())
      return promise
    },
    stopNext: (name, nth = 1) =>
      new Promise((resolve) => {
        expected.getOrInsertComputed(name, () => []).push({ left: nth, arrived: resolve })
      }),
  }
}
