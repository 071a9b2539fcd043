const USUALLY_MS = 25_000
const SHORTEST_MS = 5
const LONGEST_MS = 50

/**
 * Repeats `ask` until `done`: at first every few milliseconds, then ever more seldom, for what asks
 * takes processor time from what it waits for. Throws after `withinMs`, with the last value.
 */
export async function eventually<T>(
  ask: () => Promise<T> | T,
  done: (value: T) => boolean,
  withinMs = USUALLY_MS,
): Promise<T> {
  const begun = performance.now()
  for (;;) {
    const value = await ask()
    if (done(value)) return value
    const waitedMs = performance.now() - begun
    if (waitedMs > withinMs)
      throw new Error(`still not so after ${withinMs} ms: ${Bun.inspect(value, { depth: 6 })}`)
    await Bun.sleep(Math.min(LONGEST_MS, SHORTEST_MS + waitedMs / 10))
  }
}
