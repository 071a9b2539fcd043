/** Asks again until `done`, every few milliseconds, for 15 s at most; then gives what came last, for the assertion to show. */
export async function eventually<T>(ask: () => Promise<T> | T, done: (value: T) => boolean): Promise<T> {
  const until = performance.now() + 15_000
  for (;;) {
    const value = await ask()
    if (done(value) || performance.now() > until) return value
    await Bun.sleep(5)
  }
}
