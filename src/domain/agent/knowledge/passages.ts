/**
 * Cuts documents into passages, in small steps, so that the caller can do something else in
 * between.
 */
import { type Section, sectionsOf } from './sections.ts'

/**
 * A part of a document. Offsets are in UTF-16 code units: `content.slice(start, end)` is its text.
 */
export interface Passage {
  number: number
  /** The headings above it, the outermost first. */
  path: string[]
  start: number
  end: number
}

/** The most characters in a passage. */
export const PASSAGE_LENGTH = 1_200
/**
 * A passage repeats the last sentence of the one before it, unless that sentence is longer than
 * this.
 */
const LONGEST_OVERLAP = 300
/** No passage is cut before this place just to end at a paragraph. */
const SHORTEST = 400

/** Something that a reader could look for. */
const WORDS = /[\p{L}\p{N}]/u
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' })
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** A longer character, as people see it, is cut between code points. */
const LONGEST_GRAPHEME = 64

/** The last place after `from`, up to `at`, that does not split a character. */
const wholeUpTo = (content: string, from: number, at: number): number => {
  if (at >= content.length) return content.length
  const begin = Math.max(from, at - LONGEST_GRAPHEME)
  const window = content.slice(begin, at + LONGEST_GRAPHEME)
  const found = graphemes.segment(window).containing(at - begin)
  const whole = found ? begin + found.index : at
  if (whole > from && (whole > begin || begin === from)) return whole
  return isLowSurrogate(content, at) ? at - 1 : at
}

const isLowSurrogate = (content: string, at: number): boolean => {
  const code = content.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}

/** The offsets at which the sentences of a text begin. */
const sentenceStarts = (text: string): number[] =>
  [...sentences.segment(text)].map(({ index }) => index)

const lastMatch = (text: string, pattern: RegExp): number | undefined => {
  let last: number | undefined
  for (const match of text.matchAll(pattern)) last = match.index + match[0].length
  return last
}

/**
 * Where to end a passage in this full window: after a paragraph, else a sentence, a line or a word.
 */
const cutIn = (window: string): number => {
  const late = (at: number | undefined) => (at !== undefined && at >= SHORTEST ? at : undefined)
  return (
    late(lastMatch(window, /\n[ \t\r]*\n/g)) ??
    late(sentenceStarts(window).at(-1)) ??
    late(lastMatch(window, /\n/g)) ??
    late(lastMatch(window, /\s/gu)) ??
    window.length
  )
}

/**
 * Where the last sentence of a passage begins, if it is short enough to be repeated; otherwise the
 * end.
 */
const overlapIn = (content: string, start: number, end: number): number => {
  const begin = Math.max(start + 1, end - 2 * LONGEST_OVERLAP)
  const text = content.slice(begin, end)
  const last = sentenceStarts(text).at(-1) ?? 0
  const from = begin + last
  return last > 0 && end - from <= LONGEST_OVERLAP && text.slice(last).trim() !== '' ? from : end
}

const trimRange = (content: string, start: number, end: number): { start: number; end: number } => {
  const text = content.slice(start, end)
  return {
    start: start + (text.length - text.trimStart().length),
    end: end - (text.length - text.trimEnd().length),
  }
}

function* piecesOf(
  content: string,
  { start, end }: Pick<Section, 'start' | 'end'>,
): Generator<{ start: number; end: number }> {
  let from = start
  while (from < end) {
    const window = content.slice(from, Math.min(end, from + PASSAGE_LENGTH))
    if (from + window.length >= end) return yield { start: from, end }
    const at = wholeUpTo(content, from, from + cutIn(window))
    yield { start: from, end: at }
    const next = overlapIn(content, from, at)
    from = next > from && next < at ? wholeUpTo(content, from, next) : at
    if (content.slice(from, at).trim() === '') from = at
  }
}

/** A section that is only a heading joins the next one, as far as the passage's length allows. */
const isHeadingAlone = (content: string, { body, end }: Section): boolean =>
  !WORDS.test(content.slice(body, end))

function* joinSections(content: string, isMarkdown: boolean): Generator<Section | undefined> {
  let before: Section | undefined
  for (const section of sectionsOf(content, isMarkdown)) {
    if (!section) {
      yield undefined
      continue
    }
    const fits = before && section.end - before.start <= PASSAGE_LENGTH
    const whole: Section = fits ? { ...section, start: before!.start } : section
    if (before && !fits) yield before
    before = isHeadingAlone(content, section) ? whole : undefined
    if (!before) yield whole
  }
  if (before) yield before
}

/**
 * The passages in order. Yields `undefined` after a step that produced none. Equal texts are always
 * cut alike.
 */
export function* passagesOf(content: string, isMarkdown: boolean): Generator<Passage | undefined> {
  let number = 0
  for (const section of joinSections(content, isMarkdown)) {
    if (!section) yield undefined
    else
      for (const piece of piecesOf(content, section)) {
        const { start, end } = trimRange(content, piece.start, piece.end)
        yield WORDS.test(content.slice(start, end))
          ? { number: number++, path: section.path, start, end }
          : undefined
      }
  }
}
