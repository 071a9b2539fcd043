/**
 * The process's clock. It only measures and wakes: the database's clock decides due times and
 * leases.
 */
export interface Clock {
  /** Milliseconds since a fixed point; never goes back. */
  monotonic(): number
  /** Calls `wake` once after `ms`; disposing cancels it. */
  after(ms: number, wake: () => void): Disposable
}

/**
 * The longest delay that a JavaScript timer takes. A longer one is armed again each time it fires.
 */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  after(ms, wake) {
    const timer = setTimeout(wake, Math.min(Math.max(0, ms), LONGEST_TIMER_MS))
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  },
}

export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => clock.after(ms, resolve))
