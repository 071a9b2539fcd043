/** Looking for words and phrases in texts as people see them: whatever the case, the width of letters or the form of quotes. */
import { normalForm } from '#kernel/normal-form'

/** One spelling for comparison: NFKC, lower case, straight quotes, single spaces, no invisible characters. */
export const foldText = (text: string): string =>
  normalForm(text.toWellFormed(), 'NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()

/** Scripts written without spaces have no word boundary that could be asked for. */
const spacedLetter = /[\p{L}\p{M}\p{N}]/u
const unspacedLetter =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const joins = (character: string): boolean => spacedLetter.test(character) && !unspacedLetter.test(character)

/** For each beginning of `needle` how long an end of it is a beginning, too: where a search goes on after a mismatch. */
const bordersOf = (needle: string): Int32Array => {
  const borders = new Int32Array(needle.length)
  let length = 0
  for (let at = 1; at < needle.length; at += 1) {
    while (length > 0 && needle.charCodeAt(at) !== needle.charCodeAt(length)) length = borders[length - 1] ?? 0
    if (needle.charCodeAt(at) === needle.charCodeAt(length)) length += 1
    borders[at] = length
  }
  return borders
}

/** A text in which phrases are looked for, folded once for all of them. */
export interface Searchable {
  folded: string
  /** True when the offset lies between two letters of one word. */
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

/** A phrase that is looked for in many texts. */
export interface Phrase {
  text: string
  /** True when it stands there as whole words. Takes time linear in the text (Knuth, Morris and Pratt). */
  standsIn(text: Searchable): boolean
}

export const phraseOf = (text: string): Phrase => {
  const needle = foldText(text)
  let borders: Int32Array | undefined
  return {
    text,
    standsIn({ folded, isInWord }) {
      if (needle === '' || needle.length > folded.length) return false
      borders ??= bordersOf(needle)
      let length = 0
      for (let at = 0; at < folded.length; at += 1) {
        while (length > 0 && folded.charCodeAt(at) !== needle.charCodeAt(length)) length = borders[length - 1] ?? 0
        if (folded.charCodeAt(at) === needle.charCodeAt(length)) length += 1
        if (length < needle.length) continue
        if (!isInWord(at + 1 - length) && !isInWord(at + 1)) return true
        length = borders[length - 1] ?? 0
      }
      return false
    },
  }
}

/** True when `phrase` stands in `text` as whole words, whatever its case, width or quotes. An empty phrase is nowhere. */
export const containsPhrase = (text: string, phrase: string): boolean => phraseOf(phrase).standsIn(searchable(text))

/** The text without a phrase where that stands as whole words. */
export const without = (phrase: string, text: Searchable): Searchable => {
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
