/** Counts that the server gives up to a bound. */
import { inboxLimits } from '#contract/inbox-limits'

/** What the server has stopped counting: there may be many more. */
export const isMany = (count: number): boolean => count >= inboxLimits.counted

export const waitingWords = (count: number): string =>
  isMany(count) ? `${inboxLimits.counted}+` : String(count)
