/** Names of files that come from others. */
import { normalForm } from './normal-form.ts'
import { beginning } from './storable.ts'

/** In UTF-16 units. */
const LONGEST = 240
/** What no file system takes, what separates folders, and what hides or reorders text. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?"<>|]/gu

/** A name that is a single one on every system, hides nothing, and shows itself as it is. */
export const fileNameOf = (given: string): string => {
  const name = normalForm(given.toWellFormed(), 'NFC')
    .replaceAll(UNFIT, '_')
    .replace(/^[\s.]+/, '')
    // From the beginning of a run alone: from each of many spaces it would take their number
    // squared.
    .replace(/(?<![\s.])[\s.]+$/, '')
  if (name.length <= LONGEST) return name === '' ? 'file' : name
  const ending = /\.[A-Za-z0-9]{1,12}$/.exec(name)?.[0] ?? ''
  return beginning(name, LONGEST - ending.length) + ending
}
