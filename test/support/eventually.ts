/** A busy machine holds up all that a test waits for; no wait ends because of that alone. */
const USUALLY_MS = 30_000
const SHORTEST_MS = 5
const LONGEST_MS = 50

/** Its name tells the report of a run that time alone was over. */
class TimeoutError extends Error {
  override name = 'TimeoutError'
}

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
      throw new TimeoutError(
        `still not so after ${withinMs} ms: ${Bun.inspect(value, { depth: 6 })}`,
      )
    await Bun.sleep(Math.min(LONGEST_MS, SHORTEST_MS + waitedMs / 10))
  }
}
