/** Time as the process sees it. Due times and leases are decided by the database's clock; this one only measures and wakes. */
export interface Clock {
  /** Milliseconds since some fixed point; never steps back. */
  monotonic(): number
  /** Calls `wake` once after `ms`; disposing cancels it. */
  after(ms: number, wake: () => void): Disposable
}

/** The longest delay a JavaScript timer takes; longer ones are armed again when it fires. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  monotonic: () => performance.now(),
  after(ms, wake) {
    const timer = setTimeout(wake, Math.min(Math.max(0, ms), LONGEST_TIMER_MS))
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  },
}

export const sleep = (clock: Clock, ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve))
