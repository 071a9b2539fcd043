import { Spread } from '#kernel/tally'

const EVERY_MS = 100
/** In seconds. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const MS = 1_000

/** How long a timer of this process had to wait for its turn. */
export const watchLoopDelay = (): { seconds: Spread } & Disposable => {
  const seconds = new Spread(BOUNDS)
  let due = performance.now() + EVERY_MS
  const timer = setInterval(() => {
    const now = performance.now()
    seconds.add(Math.max(0, now - due) / MS)
    due = now + EVERY_MS
  }, EVERY_MS)
  timer.unref()
  return { seconds, [Symbol.dispose]: () => clearInterval(timer) }
}
