/** Words that come from outside, for a model and for people. Pure. */
import { beginning, storable } from '#kernel/storable'

/**
 * Characters that hide, reorder or break text: what nobody sees, a model would read. Line ends and
 * tabs stay, and joiners.
 */
const STRANGE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\n\t\u200c\u200d]]/gv

/** At most so many characters, without those that people do not see. */
export const cleanText = (text: string, most: number): string =>
  beginning(storable(text).replaceAll('\r\n', '\n').replace(STRANGE, '').trim(), most)
