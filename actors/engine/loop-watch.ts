/**
 * Notices when the event loop was busy, so that all workspaces of the process had to wait. It
 * measures real time, whatever the clock says.
 */

const TICK_MS = 100
/** How many busy spells are remembered; those that are too short to matter are not. */
const REMEMBERED = 32
const SHORT_MS = 500

export interface LoopWatch extends Disposable {
  /**
   * The longest time in milliseconds, between two values of `performance.now()`, in which nothing
   * else could run.
   */
  busyIn(from: number, until?: number): number
}

/** A loop that calls `tick` every `TICK_MS`, as far as it can. */
export const newLoopWatch = (now: () => number) => {
  let ticked = now()
  const spells: { from: number; until: number }[] = []
  /** Since the last tick nothing else may have run. */
  const present = () => ({ from: ticked + TICK_MS, until: now() })
  return {
    tick(): void {
      const spell = present()
      if (spell.until - spell.from > SHORT_MS) spells.push(spell)
      if (spells.length > REMEMBERED) spells.shift()
      ticked = spell.until
    },
    // A busy spell before `from` does not concern what began at `from`.
    busyIn: (from: number, until = Number.POSITIVE_INFINITY): number =>
      Math.max(
        0,
        ...[...spells, present()].map(
          (spell) => Math.min(spell.until, until) - Math.max(spell.from, from),
        ),
      ),
  }
}

export const watchLoop = (): LoopWatch => {
  const { tick, busyIn } = newLoopWatch(() => performance.now())
  const timer = setInterval(tick, TICK_MS)
  timer.unref()
  return { busyIn, [Symbol.dispose]: () => clearInterval(timer) }
}
