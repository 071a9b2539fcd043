/** Text from outside, cleaned for a model and for people. Pure. */
import { beginning, storable } from '#kernel/storable'

/**
 * Characters that hide, reorder or break text: people do not see them, but a model would read them.
 * Line ends, tabs and joiners stay.
 */
const STRANGE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\n\t\u200c\u200d]]/gv

/** At most this many characters, without the invisible ones. */
export const cleanText = (text: string, most: number): string =>
  beginning(storable(text).replaceAll('\r\n', '\n').replace(STRANGE, '').trim(), most)
