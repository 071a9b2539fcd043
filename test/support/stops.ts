import type { Failpoints } from '#kernel/failpoint'

/** Failpoints that stop one pass each, so that each of many workspaces in a process can stop at another point. */
export interface Stops {
  /** For the code under test. */
  at: Failpoints
  /** Stops the next pass of `name`. Resolves when it has stopped, with the function that lets it go on. */
  stopNext(name: string): Promise<() => void>
}

export const testStops = (): Stops => {
  const expected = new Map<string, (goOn: () => void) => void>()
  return {
    at(name) {
      const arrived = expected.get(name)
      if (!arrived) return
      expected.delete(name)
      const { promise, resolve } = Promise.withResolvers<void>()
      arrived(() => resolve())
      return promise
    },
    stopNext: (name) => new Promise((resolve) => expected.set(name, resolve)),
  }
}
