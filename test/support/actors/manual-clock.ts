import type { Clock } from '#kernel/clock'

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /**
   * Moves the time by `ms` and fires timers as they fall due, in order of due time and then of
   * arming, including timers armed on the way. Promise chains run between two timers; real input
   * and output is not waited for.
   */
  advance(ms: number): Promise<void>
  /** The number of armed timers. */
  readonly pending: number
}

interface Armed {
  due: number
  wake(): void
}

/** Lets everything run that waits only for other promises. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

export const manualClock = (): ManualClock => {
  let now = 0
  const timers = new Set<Armed>()
  const soonest = (until: number): Armed | undefined => {
    let found: Armed | undefined
    for (const timer of timers)
      if (timer.due <= until && (!found || timer.due < found.due)) found = timer
    return found
  }
  return {
    monotonic: () => now,
    after(ms, wake) {
      const timer = { due: now + Math.max(0, ms), wake }
      timers.add(timer)
      return { [Symbol.dispose]: () => void timers.delete(timer) }
    },
    async advance(ms) {
      const until = now + ms
      for (let timer = soonest(until); timer; timer = soonest(until)) {
        timers.delete(timer)
        now = timer.due
        timer.wake()
        await settled()
      }
      now = until
    },
    get pending() {
      return timers.size
    },
  }
}
