/**
 * Notices when the event loop was busy: whatever ran then kept all workspaces of the process
 * waiting. In real time, whatever the clock says.
 */

const TICK_MS = 100
/** As many busy spells are remembered, unless they are too short to matter. */
const REMEMBERED = 32
const SHORT_MS = 500

export interface LoopWatch extends Disposable {
  /**
   * The longest time between two times of `performance.now()` for which nothing else had a turn, in
   * milliseconds.
   */
  busyIn(from: number, until?: number): number
}

/** A loop that calls `tick` every `TICK_MS`, as far as it can. */
export const newLoopWatch = (now: () => number) => {
  let ticked = now()
  const spells: { from: number; until: number }[] = []
  /** Since the last tick nothing else may have had a turn. */
  const present = () => ({ from: ticked + TICK_MS, until: now() })
  return {
    tick(): void {
      const spell = present()
      if (spell.until - spell.from > SHORT_MS) spells.push(spell)
      if (spells.length > REMEMBERED) spells.shift()
      ticked = spell.until
    },
    // What was busy before has nothing to do with what began afterwards.
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
