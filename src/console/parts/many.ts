/** Counts in words. */
import { inboxLimits } from '#contract/inbox-limits'

/** What the server has stopped counting: there may be many more. */
export const isMany = (count: number): boolean => count >= inboxLimits.counted

/** `1 draft`, `1,200 drafts`. */
export const quantityOf = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`

export const waitingWords = (count: number): string =>
  isMany(count) ? `${inboxLimits.counted}+` : String(count)
