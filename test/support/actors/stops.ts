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
  /**
   * Stops every pass of `name` for which no other stop waits, until one of the functions above is
   * called: what is given up and tried again, on a busy machine, comes no further.
   */
  stopOthers(name: string): void
}

export const testStops = (): Stops => {
  const expected = new Map<string, { left: number; arrived: (goOn: () => void) => void }[]>()
  const others = new Set<string>()
  const anybodyGoesOn = Promise.withResolvers<void>()
  return {
    at(name) {
      const stops = expected.get(name) ?? []
      const [stop] = stops
      if (!stop) return others.has(name) ? anybodyGoesOn.promise : undefined
      if (--stop.left > 0) return
      stops.shift()
      const { promise, resolve } = Promise.withResolvers<void>()
      stop.arrived(() => {
        others.clear()
        anybodyGoesOn.resolve()
        resolve()
      })
      return promise
    },
    stopNext: (name, nth = 1) =>
      new Promise((resolve) => {
        expected.getOrInsertComputed(name, () => []).push({ left: nth, arrived: resolve })
      }),
    stopOthers: (name) => void others.add(name),
  }
}
