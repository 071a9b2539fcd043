/**
 * Text as full text search needs it. Postgres finds words by the spaces around them. Where the
 * database's locale is C, as in the embedded one, it takes all characters outside ASCII for
 * letters, so that quotation marks, dashes and non-breaking spaces would become parts of words.
 */

import { normalForm } from './normal-form.ts'

/**
 * Stand around each word of a query in a text that was found. They are characters of a private use
 * area, which nobody writes.
 */
export const MARKS = ['\uE000', '\uE001'] as const

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}][\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}ー]*/gu

const words = new Intl.Segmenter('en', { granularity: 'word' })

/** Characters that nobody sees, such as soft hyphens, and that nobody searches for. */
const UNSEEN = /[\p{Cf}\p{Variation_Selector}]/gu
const NO_LETTER = /[^\p{L}\p{M}\p{N}\p{ASCII}]/gu

/**
 * The letters in one form, whether or not accents are characters of their own, with nothing but
 * spaces and ASCII between words.
 */
const plain = (text: string): string =>
  normalForm(text, 'NFC')
    .replace(UNSEEN, '')
    .replace(NO_LETTER, (character) => ' '.repeat(character.length))

/**
 * The plain text, with a space before and after each word of the scripts that write none. ASCII
 * stays as it is.
 */
export const spacedWords = (text: string): string =>
  plain(text).replace(
    UNSPACED,
    (run) => ` ${[...words.segment(run)].map(({ segment }) => segment).join(' ')} `,
  )

/** The spaced text that is stored beside a text; null where it equals the text itself. */
export const spacedOf = (text: string): string | null => {
  const spaced = spacedWords(text)
  return spaced === text ? null : spaced
}

/** How many characters can become one in plain text, at most. */
const MOST_OF_ONE = 8

const LETTER = /[\p{L}\p{N}]/u

/**
 * How many units of `text`, from `at` on, became this unit of plain text; 0 if the unit is an
 * inserted space.
 */
const unitsOf = (text: string, at: number, unit: string): number => {
  if (text[at] === unit) return 1
  // No letter becomes a space, so most inserted spaces can be told by that.
  if (unit === ' ' && LETTER.test(text[at] ?? '')) return 0
  for (let count = 1; count <= MOST_OF_ONE && at + count <= text.length; count++)
    if (plain(text.slice(at, at + count)) === unit) return count
  return 0
}

/**
 * The places in `text` of what `marked` has between marks. `marked` is the text as `spacedWords`
 * returns it, with marks added. Empty if anything else was changed on the way.
 */
export const placesOfMarks = (
  text: string,
  marked: string,
  [open, close]: readonly [string, string] = MARKS,
): { start: number; end: number }[] => {
  const places: { start: number; end: number }[] = []
  let [at, start] = [0, -1]
  for (const unit of marked.split('')) {
    if (unit === open) start = at
    else if (unit === close) {
      if (start >= 0 && at > start) places.push({ start, end: at })
      start = -1
    } else {
      const units = unitsOf(text, at, unit)
      if (units === 0 && unit !== ' ') return []
      at += units
    }
  }
  return plain(text.slice(at)) === '' ? places : []
}

/** The text with the marks of `marked` carried over. */
export const withMarks = (text: string, marked: string): string => {
  const [open, close] = MARKS
  const places = placesOfMarks(text, marked)
  const parts = places.map(
    ({ start, end }, index) =>
      `${text.slice(places[index - 1]?.end ?? 0, start)}${open}${text.slice(start, end)}${close}`,
  )
  return `${parts.join('')}${text.slice(places.at(-1)?.end ?? 0)}`
}
