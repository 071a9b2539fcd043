/**
 * Search for words and phrases as people see them: case, letter width and the form of quotes do not
 * matter.
 */
import { normalForm } from '#kernel/normal-form'

/**
 * Normalises a text for comparison: NFKC, lower case, straight quotes, single spaces, no invisible
 * characters.
 */
export const foldText = (text: string): string =>
  normalForm(text.toWellFormed(), 'NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()

/** Scripts written without spaces have no word boundaries to check. */
const spacedLetter = /[\p{L}\p{M}\p{N}]/u
const unspacedLetter =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const joins = (character: string): boolean =>
  spacedLetter.test(character) && !unspacedLetter.test(character)

/**
 * The failure function of Knuth, Morris and Pratt: for each prefix of `needle`, the length of its
 * longest border.
 */
const bordersOf = (needle: string): Int32Array => {
  const borders = new Int32Array(needle.length)
  let length = 0
  for (let at = 1; at < needle.length; at += 1) {
    while (length > 0 && needle.charCodeAt(at) !== needle.charCodeAt(length))
      length = borders[length - 1] ?? 0
    if (needle.charCodeAt(at) === needle.charCodeAt(length)) length += 1
    borders[at] = length
  }
  return borders
}

/** A text to search, folded once for all phrases. */
export interface Searchable {
  folded: string
  /** Whether the offset lies between two letters of one word. */
  isInWord(at: number): boolean
}

const wordInteriors = (folded: string): Uint8Array => {
  const interiors = new Uint8Array(folded.length + 1)
  let at = 0
  let before = false
  for (const character of folded) {
    const letter = joins(character)
    if (letter && before) interiors[at] = 1
    before = letter
    at += character.length
  }
  return interiors
}

export const searchable = (text: string): Searchable => {
  const folded = foldText(text)
  let interiors: Uint8Array | undefined
  return {
    folded,
    isInWord(at) {
      interiors ??= wordInteriors(folded)
      return interiors[at] === 1
    },
  }
}

export interface Phrase {
  text: string
  /**
   * Whether the phrase occurs in the text as whole words. Takes linear time (Knuth, Morris and
   * Pratt).
   */
  occursIn(text: Searchable): boolean
}

export const phraseOf = (text: string): Phrase => {
  const needle = foldText(text)
  let borders: Int32Array | undefined
  return {
    text,
    occursIn({ folded, isInWord }) {
      if (needle === '' || needle.length > folded.length) return false
      borders ??= bordersOf(needle)
      let length = 0
      for (let at = 0; at < folded.length; at += 1) {
        while (length > 0 && folded.charCodeAt(at) !== needle.charCodeAt(length))
          length = borders[length - 1] ?? 0
        if (folded.charCodeAt(at) === needle.charCodeAt(length)) length += 1
        if (length < needle.length) continue
        if (!isInWord(at + 1 - length) && !isInWord(at + 1)) return true
        length = borders[length - 1] ?? 0
      }
      return false
    },
  }
}

/**
 * Whether `phrase` occurs in `text` as whole words, whatever the case, width or quotes. An empty
 * phrase never does.
 */
export const containsPhrase = (text: string, phrase: string): boolean =>
  phraseOf(phrase).occursIn(searchable(text))

/** The text with all whole-word occurrences of `phrase` cut out. */
export const withoutPhrase = (phrase: string, text: Searchable): Searchable => {
  const needle = foldText(phrase)
  let left = ''
  let from = 0
  for (let at = text.folded.indexOf(needle); at !== -1; at = text.folded.indexOf(needle, at + 1)) {
    if (at < from || text.isInWord(at) || text.isInWord(at + needle.length)) continue
    left += `${text.folded.slice(from, at)} | `
    from = at + needle.length
  }
  return from === 0 ? text : searchable(left + text.folded.slice(from))
}

/** Whether any of the phrases occurs in a text. */
export const occursAny = (phrases: readonly Phrase[], text: string): boolean => {
  const searched = searchable(text)
  return phrases.some((phrase) => phrase.occursIn(searched))
}
