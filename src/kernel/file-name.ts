/** File names that come from others. */
import { normalForm } from './normal-form.ts'
import { beginning } from './storable.ts'

/** In UTF-16 units. */
const LONGEST = 240
/** Characters that no file system takes, that separate folders, or that hide or reorder text. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?"<>|]/gu

/** A single file name that is valid on every system, hides nothing, and looks like what it is. */
export const fileNameOf = (given: string): string => {
  const name = normalForm(given.toWellFormed(), 'NFC')
    .replaceAll(UNFIT, '_')
    .replace(/^[\s.]+/, '')
    // Matches only from the beginning of a run. Trying again from each space of a long run would
    // take quadratic time.
    .replace(/(?<![\s.])[\s.]+$/, '')
  if (name.length <= LONGEST) return name === '' ? 'file' : name
  const ending = /\.[A-Za-z0-9]{1,12}$/.exec(name)?.[0] ?? ''
  return beginning(name, LONGEST - ending.length) + ending
}
