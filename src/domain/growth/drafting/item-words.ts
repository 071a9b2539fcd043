/**
 * The words by which lists find items. They are compared as wholes, in lower case, and must be
 * exactly those of the table of words.
 */
import { spacedWords } from '#kernel/spacing'
import { beginning } from '#kernel/storable'
import type { Item } from './item.ts'
import { foldText } from './phrase.ts'

/** Longer words are stored by their beginning. */
const LONGEST_WORD = 64
/**
 * How many different words of a text are stored: enough for the longest article, and a bound for
 * texts that never repeat a word.
 */
const MOST_WORDS = 4_000
/** Marks tags. No word contains it. */
const TAG = '#'

/** The different words of a text, in the order of their first occurrence. */
export const searchWords = (text: string): string[] => [
  ...new Set(
    (spacedWords(foldText(text)).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).map((word) =>
      beginning(word, LONGEST_WORD),
    ),
  ),
]

/** A tag in the form of a word. */
export const tagWord = (tag: string): string => TAG + beginning(foldText(tag), LONGEST_WORD)

type Worded = Pick<Item, 'body' | 'note' | 'tags'>

/** All words of an item: those of its text and its note, and its tags. */
export const itemWords = ({ body, note, tags }: Worded): string[] => [
  ...new Set([
    ...searchWords(note === null ? body : `${body}\n${note}`).slice(0, MOST_WORDS),
    ...tags.map(tagWord),
  ]),
]

/** Whether a change leaves the words unchanged. */
export const hasSameWords = (before: Worded, next: Worded): boolean =>
  before.body === next.body &&
  before.note === next.note &&
  before.tags.length === next.tags.length &&
  before.tags.every((tag, index) => tag === next.tags[index])
