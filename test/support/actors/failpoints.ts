import type { Failpoints } from '#kernel/failpoint'
import { type Gate, newGate } from './letters.ts'

/** `hang`: wait until released. An error is thrown; a function is called and awaited. */
type Action = 'hang' | Error | (() => Promise<void> | void)

export interface TestFailpoints {
  /** Passed to the code under test. */
  at: Failpoints
  /** From now on everything that passes `name` does this. Names stay armed until released. */
  arm(name: string, action: Action): void
  /** Resolves when the armed name has been reached for the first time. */
  reached(name: string): Promise<void>
  /** Lets everything that hangs at `name` continue, and disarms it. */
  release(name: string): void
}

interface Point {
  action: Action
  reached: Gate
  released: Gate
}

export const testFailpoints = (): TestFailpoints => {
  const points = new Map<string, Point>()
  return {
    async at(name) {
      const point = points.get(name)
      if (!point) return
      point.reached.open()
      if (point.action === 'hang') return point.released.opened
      if (point.action instanceof Error) throw point.action
      await point.action()
    },
    arm(name, action) {
      points.get(name)?.released.open()
      points.set(name, { action, reached: newGate(), released: newGate() })
    },
    async reached(name) {
      const point = points.get(name)
      if (!point) throw new Error(`${name} is not armed`)
      await point.reached.opened
    },
    release(name) {
      points.get(name)?.released.open()
      points.delete(name)
    },
  }
}
