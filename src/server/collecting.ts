/** Gives memory back while there is little to do. The engine collects as it allocates: a process that rests keeps what its last load left. */
import type { Clock } from '#kernel/clock'
import type { Log } from '#kernel/log'

export interface CollectingDeps {
  clock: Clock
  log: Log
  everyMs?: number
  /** Processor time that this process has used, in milliseconds. */
  usedMs?: () => number
  /** Collects all garbage, which keeps the event loop for about half a millisecond a MiB of it. */
  collect?: () => void
}

/** A process that uses less of one processor rests: its timers alone take less than this. */
const RESTING_SHARE = 0.1
const EVERY_MS = 15_000

const usedByProcess = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Collects once after each load: at the end of the first period in which the process has rested. */
export const startCollecting = ({
  clock,
  log,
  everyMs = EVERY_MS,
  usedMs = usedByProcess,
  collect = () => Bun.gc(true),
}: CollectingDeps): Disposable => {
  // Starting is work, too.
  let hasWorked = true
  let [before, since] = [usedMs(), clock.monotonic()]
  let timer: Disposable | undefined
  const look = (): void => {
    const [used, now] = [usedMs(), clock.monotonic()]
    const rests = used - before < (now - since) * RESTING_SHARE
    if (rests && hasWorked) {
      collect()
      log.debug({ mib: Math.round(process.memoryUsage.rss() / 2 ** 20) }, 'collected garbage while there was little to do')
    }
    hasWorked = !rests
    // Without the time of the collection itself.
    ;[before, since] = [usedMs(), clock.monotonic()]
    timer = clock.after(everyMs, look)
  }
  timer = clock.after(everyMs, look)
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() }
}
