/** Tasks that a process repeats at an interval. */
import type { Clock } from '#kernel/clock'

export interface Periodic {
  clock: Clock
  everyMs: number
  /** Whether to leave out a pass; asked before each. */
  rests?: () => boolean
  /** Never rejects. Stops early when `stopped` says so. */
  pass(stopped: () => boolean): Promise<void>
}

/**
 * Runs at once, because a process may not live as long as its interval. Disposing waits for the
 * running pass.
 */
export const startPeriodic = ({ clock, everyMs, rests, pass }: Periodic): AsyncDisposable => {
  let stopped = false
  let timer: Disposable | undefined
  const run = async (): Promise<void> => {
    if (!rests?.()) await pass(() => stopped || rests?.() === true)
    if (!stopped) timer = clock.after(everyMs, begin)
  }
  let running = Promise.resolve()
  const begin = (): void => {
    running = run()
  }
  begin()
  return {
    async [Symbol.asyncDispose]() {
      stopped = true
      timer?.[Symbol.dispose]()
      await running
    },
  }
}
