import type { Failpoints } from '#kernel/failpoint'

/** Fail points at which single passers stop: of many workspaces in one process, each may stop at a place of its own. */
export interface Stops {
  /** What the code under test is given. */
  at: Failpoints
  /** The next one to come to this name stops there. Resolves when it has, with what lets it go on. */
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
