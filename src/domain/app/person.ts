/** Rules about people: how an email is told from another, how long sessions and links last, how often something may be tried. */
import { plainText } from '#kernel/plain-text'

/** Equal for all ways of writing an address. */
export const emailKey = (email: string): string => plainText(email).toLowerCase()

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** An access token serves so long; what it may is looked up each time all the same. */
export const ACCESS_MS = 15 * MINUTE_MS
/** A session that is not refreshed for so long has ended. */
export const SESSION_MS = 30 * DAY_MS
export const INVITATION_MS = 7 * DAY_MS
/** A browser in which somebody has signed in is known for so long. */
export const BROWSER_MS = 365 * DAY_MS
/** For so long a password that was given in a session of the command line need not be given again. */
export const PASSWORD_FRESH_MS = 10 * MINUTE_MS
/** How long a link is good by which somebody chooses another password. */
export const RESET_MS = 60 * MINUTE_MS

/** So many tries within so many seconds. */
export interface TryLimit {
  most: number
  withinS: number
}

/** Failures before a password is refused unheard: of one account from one address, of one account, and from one address. */
export const passwordLimits = {
  pair: { most: 10, withinS: 900 },
  account: { most: 100, withinS: 3_600 },
  address: { most: 100, withinS: 900 },
} as const satisfies Record<string, TryLimit>

/** Passwords offered with an invitation, from one address: each of them uses the invitation up. */
export const joinLimit: TryLimit = { most: 500, withinS: 900 }

/** Changes of one's own name and email. */
export const changeLimit: TryLimit = { most: 30, withinS: 3_600 }

/** Links for another password that are none, from one address. */
export const resetLimit: TryLimit = { most: 30, withinS: 900 }
