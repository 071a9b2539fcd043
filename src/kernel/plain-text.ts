/** Names and addresses as people read them, without characters that hide, reorder or break text. */
import { normalForm } from './normal-form.ts'

/**
 * All control and format characters, and line and paragraph separators, except the two joiners that
 * several scripts and emoji need.
 */
const STRANGE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]/v
/** Characters that show nothing by themselves. */
const INVISIBLE = /^[\s\u2800\p{Default_Ignorable_Code_Point}]+$/v

/** The first character that no name may contain, written `U+202E`; undefined if there is none. */
export const strangeCharacter = (text: string): string | undefined => {
  const found = STRANGE.exec(text)?.[0]
  return found && `U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/**
 * Whether a text is longer than `most` code points once it is in that form: one character may
 * become eighteen.
 */
export const isLonger = (text: string, most: number): boolean =>
  [...normalForm(text, 'NFKC')].length > most

/** Whether a text is not empty but nothing of it would show. */
export const isInvisible = (text: string): boolean => INVISIBLE.test(text) && text.trim() !== ''

/** In Unicode's compatibility form (NFKC), which look-alikes share, and trimmed. */
export const plainText = (text: string): string => normalForm(text, 'NFKC').trim()
