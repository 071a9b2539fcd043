/** Notices when the event loop was busy: whatever ran then kept all workspaces of the process waiting. In real time, whatever the clock says. */

const TICK_MS = 100
/** As many busy spells are remembered. */
const REMEMBERED = 32

export interface LoopWatch extends Disposable {
  /** The longest time for which nothing else had a turn, since this time of `performance.now()`, in milliseconds. */
  busySince(since: number): number
}

export const watchLoop = (): LoopWatch => {
  let ticked = performance.now()
  const spells: { until: number; ms: number }[] = []
  const tick = (): void => {
    const now = performance.now()
    const ms = now - ticked - TICK_MS
    if (ms > TICK_MS) spells.push({ until: now, ms })
    if (spells.length > REMEMBERED) spells.shift()
    ticked = now
  }
  const timer = setInterval(tick, TICK_MS)
  timer.unref()
  return {
    // A spell that has just ended may not have been noticed yet.
    busySince: (since) =>
      Math.max(0, performance.now() - ticked - TICK_MS, ...spells.flatMap(({ until, ms }) => (until > since ? [ms] : []))),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
