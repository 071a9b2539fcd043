/** Work that waits for billing to be in order before it may cost something. */

/** How long it waits before it fails. */
export const HELD_MS = 7 * 24 * 3_600_000
const FIRST_TRY_MS = 15_000
const LAST_TRY_MS = 15 * 60_000

/**
 * When to see again whether billing is in order. Each pause is half of the time waited so far, and
 * a quarter of an hour at most.
 */
export const nextHeldTry = (since: Date, now: Date): Date => {
  // A clock that has gone back must not make it look all the time.
  const waited = Math.abs(now.getTime() - since.getTime())
  return new Date(now.getTime() + Math.min(LAST_TRY_MS, Math.max(FIRST_TRY_MS, waited / 2)))
}
