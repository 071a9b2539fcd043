/** What a process does every so often, whether or not anybody asks. */
import type { Clock } from '#kernel/clock'

export interface Periodic {
  clock: Clock
  everyMs: number
  /** Never rejects. Stops early when `stopped` says so. */
  look(stopped: () => boolean): Promise<void>
}

/** Begins at once, because a process may never live as long as its interval. Disposing waits for the look that runs. */
export const startPeriodic = ({ clock, everyMs, look }: Periodic): AsyncDisposable => {
  let stopped = false
  let timer: Disposable | undefined
  const run = async (): Promise<void> => {
    await look(() => stopped)
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
