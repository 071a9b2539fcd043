/** Names and addresses as people read them: without characters that hide, reorder or break a line of text. */
import { normalForm } from './normal-form.ts'

/** All controls, formats, line and paragraph separators, but the two joiners that several scripts and emoji are written with. */
const STRANGE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]/v
/** What shows nothing by itself. */
const INVISIBLE = /^[\s\u2800\p{Default_Ignorable_Code_Point}]+$/v

/** The first character of a text that no name may hold, as `U+202E`; undefined when there is none. */
export const strangeCharacter = (text: string): string | undefined => {
  const found = STRANGE.exec(text)?.[0]
  return found && `U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** Whether a text is longer than this, in code points, once it has that form: one character may become eighteen. */
export const isLonger = (text: string, most: number): boolean => [...normalForm(text, 'NFKC')].length > most

/** Whether there is text, of which nothing would be seen. */
export const isInvisible = (text: string): boolean => INVISIBLE.test(text) && text.trim() !== ''

/** In the one form that looks alike have in common (NFKC), without outer spaces. */
export const plainText = (text: string): string => normalForm(text, 'NFKC').trim()
