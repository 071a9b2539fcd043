/**
 * Rules about people: when two email addresses are the same, how long sessions and links last, and
 * how many tries a person has.
 */
import { plainText } from '#kernel/plain-text'

/** The same key for every spelling of an address. */
export const emailKey = (email: string): string => plainText(email).toLowerCase()

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/**
 * Lifetime of an access token. A revoked session's token fails sooner: every request looks up what
 * it allows.
 */
export const ACCESS_MS = 15 * MINUTE_MS
/** A session ends when it has not been refreshed for this long. */
export const SESSION_MS = 30 * DAY_MS
export const INVITATION_MS = 7 * DAY_MS
/** How long a browser stays known after a sign-in. */
export const BROWSER_MS = 365 * DAY_MS
/** How long a session of the command line goes without asking for the password again. */
export const PASSWORD_FRESH_MS = 10 * MINUTE_MS
/** Lifetime of a link to reset a password. */
export const RESET_MS = 60 * MINUTE_MS

/** At most `most` tries within `withinS` seconds. */
export interface TryLimit {
  most: number
  withinS: number
}

/**
 * Failed tries after which passwords are refused without a check: by account and address, by
 * account, and by address over all accounts.
 */
export const passwordLimits = {
  pair: { most: 10, withinS: 900 },
  account: { most: 100, withinS: 3_600 },
  address: { most: 30, withinS: 600 },
} as const satisfies Record<string, TryLimit>

/**
 * Passwords offered with an invitation, by address. Each try uses an invitation up, so an address
 * gets more of them.
 */
export const joinLimit: TryLimit = { most: 500, withinS: 900 }

/** Changes of one's own name and email. */
export const changeLimit: TryLimit = { most: 30, withinS: 3_600 }

/** Invalid reset links, by address. */
export const resetLimit: TryLimit = { most: 30, withinS: 900 }
