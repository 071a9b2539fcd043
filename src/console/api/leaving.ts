/** How a tab leaves for another workspace, to which it moves the session. */

interface Browser {
  leaveFor(path: string): void
  /** Calls it when the page is shown. */
  onShown(stay: () => void): void
  after(ms: number, stay: () => void): void
}

/** A page that is still there by then stays: its next one has not come, or somebody stopped it. */
const LEAVES_WITHIN_MS = 10_000

export const createLeaving = (browser: Browser) => {
  let leaving: Promise<void> | undefined

  /** Ends at once, unless this tab is moving the session: then once it is known that it stays. */
  const whileLeaving = (): Promise<void> | undefined => leaving

  /**
   * Moves the session, and this tab with it. What the tab would read meanwhile belongs to the
   * workspace that it leaves, so its reads wait until the page is gone, or is known to stay.
   */
  const leaveWith = async (move: () => Promise<unknown>, path: string): Promise<void> => {
    const { promise, resolve: stay } = Promise.withResolvers<void>()
    const own: Promise<void> = promise.then(() => {
      if (leaving === own) leaving = undefined
    })
    leaving = own
    try {
      await move()
      browser.onShown(stay)
      browser.after(LEAVES_WITHIN_MS, stay)
      browser.leaveFor(path)
    } catch (cause) {
      stay()
      throw cause
    }
  }

  return { whileLeaving, leaveWith }
}
