/**
 * A busy machine delays everything that a test waits for; no wait may fail because of that alone.
 */
const USUALLY_MS = 30_000
const SHORTEST_MS = 5
const LONGEST_MS = 50

/** The name tells the report of a run that only time ran out. */
class TimeoutError extends Error {
  override name = 'TimeoutError'
}

/**
 * Repeats `ask` until `done`: every few milliseconds at first, then more and more seldom, because
 * asking takes processor time from the thing awaited. Throws after `withinMs`, with the last value.
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
      throw new TimeoutError(
        `still not so after ${withinMs} ms: ${Bun.inspect(value, { depth: 6 })}`,
      )
    await Bun.sleep(Math.min(LONGEST_MS, SHORTEST_MS + waitedMs / 10))
  }
}
