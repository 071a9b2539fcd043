const USUALLY_MS = 15_000

/** Repeats `ask` every few milliseconds until `done`, for at most `withinMs`. Gives the last value even if not done, for the assertion to show. */
export async function eventually<T>(ask: () => Promise<T> | T, done: (value: T) => boolean, withinMs = USUALLY_MS): Promise<T> {
  const until = performance.now() + withinMs
  for (;;) {
    const value = await ask()
    if (done(value) || performance.now() > until) return value
    await Bun.sleep(5)
  }
}
