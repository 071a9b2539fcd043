/**
 * Time that moves only when told to, without a turn of the event loop: a whole history runs in one
 * go.
 */
import { drainMicrotasks } from 'bun:jsc'
import type { Clock } from '#kernel/clock'

export interface SimulatedClock extends Clock {
  /**
   * Moves the time by `ms` and fires the timers that fall due on the way, ordered by due time, then
   * by when they were set.
   */
  advance(ms: number): void
  /** Moves the time to the next timer and fires it; without one, by `ms`. */
  advanceToNext(ms: number): void
}

interface Armed {
  due: number
  wake(): void
}

/** Lets everything run that waits only for promises. */
export const settle = drainMicrotasks

export const simulatedClock = (): SimulatedClock => {
  let now = 0
  /** Sorted, with the soonest last. */
  const timers: Armed[] = []
  const fire = (): void => {
    const timer = timers.pop()!
    now = timer.due
    timer.wake()
    settle()
  }
  return {
    monotonic: () => now,
    after(ms, wake) {
      const timer = { due: now + Math.max(0, ms), wake }
      let at = timers.length
      while (at > 0 && timers[at - 1]!.due <= timer.due) at--
      timers.splice(at, 0, timer)
      return {
        [Symbol.dispose]() {
          const found = timers.indexOf(timer)
          if (found >= 0) timers.splice(found, 1)
        },
      }
    },
    advance(ms) {
      const until = now + ms
      while (timers.length > 0 && timers.at(-1)!.due <= until) fire()
      now = until
    },
    advanceToNext(ms) {
      if (timers.length > 0) fire()
      else now += ms
    },
  }
}
