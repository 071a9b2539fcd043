import { sentencesOf, stripListMark } from './sentences.ts'

/** How much of one profile entry is read. */
export interface ReadingLimit {
  characters: number
  sentences: number
}

const ALL_CHARACTERS = 48_000
const LEAST_CHARACTERS = 600
const ALL_SENTENCES = 800
const MOST_SENTENCES = 60
const LEAST_SENTENCES = 10

/**
 * A few entries are read whole. With many long ones, the beginning of each is read, enough to find
 * sentences for a post.
 */
export const allowanceFor = (entries: number): ReadingLimit => ({
  characters: Math.max(LEAST_CHARACTERS, Math.floor(ALL_CHARACTERS / Math.max(1, entries))),
  sentences: Math.min(
    MOST_SENTENCES,
    Math.max(LEAST_SENTENCES, Math.floor(ALL_SENTENCES / Math.max(1, entries))),
  ),
})

/** A sentence of an entry. */
export interface EntrySentence {
  text: string
  /** Whether sentences before it were not read. */
  afterGap: boolean
}

/** Long enough to contain the last sentence of an entry and the end of the one before. */
const ENDING = 400

const split = (text: string, language: string): string[] =>
  text.split(/\n+/).flatMap((line) => sentencesOf(stripListMark(line), language))

/**
 * The sentences of an entry in order: all of them, or those at the beginning and the last one,
 * which is how the story ends.
 */
export const sentencesIn = (
  entry: string,
  { characters, sentences }: ReadingLimit,
  language: string,
): EntrySentence[] => {
  const beginning = split(entry.slice(0, characters), language)
  const isCut = entry.length > characters
  const whole = isCut ? beginning.slice(0, -1) : beginning
  const read = whole.slice(0, sentences).map((text) => ({ text, afterGap: false }))
  if (!isCut && read.length === whole.length) return read
  // If the ending starts in the middle of a sentence, its first piece is dropped.
  const ending = isCut
    ? split(entry.slice(Math.max(characters, entry.length - ENDING)), language).slice(1)
    : whole
  return [...read, ...ending.slice(-1).map((text) => ({ text, afterGap: true }))]
}
