/**
 * Gives memory back. The engine only collects as it allocates, so an idle process keeps what its
 * last load left. Under a steady load, it rather grows than looks for all garbage.
 */
import type { Clock } from '#kernel/clock'
import type { Log } from '#kernel/log'

export interface CollectingDeps {
  clock: Clock
  log: Log
  everyMs?: number
  /** Processor time that this process has used, in milliseconds. */
  usedMs?: () => number
  /** Resident memory, in MiB. */
  resident?: () => number
  /**
   * Collects all garbage. This blocks the event loop for about half a millisecond per MiB of
   * garbage.
   */
  collect?: () => void
}

/**
 * A process that uses a smaller share of one processor is idle. Its timers alone take less than
 * this.
 */
const IDLE_SHARE = 0.1
const EVERY_MS = 15_000
/**
 * If a load has added this much since the last collection, and that was long enough ago, the load
 * is interrupted for another one.
 */
const GROWN_MIB = 64
const SELDOM_MS = 300_000

const usedByProcess = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

const residentOfProcess = (): number => process.memoryUsage.rss() / 2 ** 20

/**
 * Collects once after each load, at the end of the first period in which the process was idle. Also
 * collects now and then under a load that grows.
 */
export const startCollecting = ({
  clock,
  log,
  everyMs = EVERY_MS,
  usedMs = usedByProcess,
  resident = residentOfProcess,
  collect = () => Bun.gc(true),
}: CollectingDeps): Disposable => {
  // Starting counts as work too.
  let hasWorked = true
  let [before, since] = [usedMs(), clock.monotonic()]
  let [mib, collectedAt] = [resident(), since]
  let timer: Disposable | undefined
  const look = (): void => {
    const [used, now] = [usedMs(), clock.monotonic()]
    const isIdle = used - before < (now - since) * IDLE_SHARE
    const hasGrown = now - collectedAt >= SELDOM_MS && resident() - mib >= GROWN_MIB
    if ((isIdle && hasWorked) || hasGrown) {
      collect()
      ;[mib, collectedAt] = [resident(), now]
      log.debug({ mib: Math.round(mib) }, 'collected garbage')
    }
    hasWorked = !isIdle
    // Does not count the time of the collection itself.
    ;[before, since] = [usedMs(), clock.monotonic()]
    timer = clock.after(everyMs, look)
  }
  timer = clock.after(everyMs, look)
  return { [Symbol.dispose]: () => timer?.[Symbol.dispose]() }
}
