/** Work that would cost something waits until billing is in order. */

/** How long it waits before it fails. */
export const HELD_MS = 7 * 24 * 3_600_000
const FIRST_TRY_MS = 15_000
const LAST_TRY_MS = 15 * 60_000

/**
 * When to check again whether billing is in order. Each pause is half of the time waited so far, at
 * most a quarter of an hour.
 */
export const nextHeldTry = (since: Date, now: Date): Date => {
  // A clock that was set back must not cause constant checks.
  const waited = Math.abs(now.getTime() - since.getTime())
  return new Date(now.getTime() + Math.min(LAST_TRY_MS, Math.max(FIRST_TRY_MS, waited / 2)))
}
