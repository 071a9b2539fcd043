const USUALLY_MS = 25_000

/**
 * Repeats `ask` every few milliseconds until `done`. Throws after `withinMs`, with the last value.
 */
export async function eventually<T>(
  ask: () => Promise<T> | T,
  done: (value: T) => boolean,
  withinMs = USUALLY_MS,
): Promise<T> {
  const until = performance.now() + withinMs
  for (;;) {
    const value = await ask()
    if (done(value)) return value
    if (performance.now() > until)
      throw new Error(`still not so after ${withinMs} ms: ${Bun.inspect(value, { depth: 6 })}`)
    await Bun.sleep(5)
  }
}
