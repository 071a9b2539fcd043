/** When the credentials of an account are renewed. Pure. */

const SOONEST_MS = 60_000
const BACKOFF_MS = [5_000, 15_000, 60_000, 300_000, 600_000] as const

/** After half of the time that is left, so that some tries may fail before they end. */
export const renewAt = (now: Date, endsAt: Date): Date =>
  new Date(now.getTime() + Math.max(SOONEST_MS, (endsAt.getTime() - now.getTime()) / 2))

/**
 * The next try after `failures` without an answer. It never gives up: only the network's refusal
 * ends credentials.
 */
export const retryAt = (now: Date, failures: number, retryAfterMs = 0): Date => {
  const usual = BACKOFF_MS[failures - 1] ?? BACKOFF_MS.at(-1)!
  return new Date(now.getTime() + Math.max(usual, retryAfterMs))
}
