import type { Draft, DraftBrief, RecentPost } from '#domain/draft'
import { normalForm } from '../normal-form.ts'
import { atOnce, type Steps } from './pace.ts'

/** What keeps a draft from being delivered; `detail` is worded for whoever has to rewrite it. */
export interface DraftFault {
  kind: 'empty' | 'too_long' | 'avoided' | 'archived' | 'repeated' | 'unsupported'
  detail: string
}

/** Above this share of common words two posts count as the same post. */
const NEAR_DUPLICATE = 0.8

const wordSegmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** One spelling for comparison: NFKC, lower case, straight quotes, single spaces, no invisible characters. */
export const foldText = (text: string): string =>
  normalForm(text.toWellFormed(), 'NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()

/** The distinct words of a text, folded; works for scripts without spaces too. */
export const wordSet = (text: string): Set<string> => {
  const words = new Set<string>()
  for (const { segment, isWordLike } of wordSegmenter.segment(foldText(text))) if (isWordLike) words.add(segment)
  return words
}

/** Common words over all words of the two sets, 0 to 1. */
export const overlapOf = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  if (a.size === 0 || b.size === 0) return 0
  let common = 0
  for (const word of a) if (b.has(word)) common += 1
  return common / (a.size + b.size - common)
}

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
const without = (phrase: string, text: Searchable): Searchable => {
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

/** The name of an archived product as a phrase: where it is only a part of an active product's name, that one is meant. */
const archivedName = (name: string, products: DraftBrief['products']): Phrase => {
  const phrase = phraseOf(name)
  const longer = products.filter((product) => phrase.standsIn(searchable(product.name)))
  return {
    text: name,
    standsIn: (text) => phrase.standsIn(text) && phrase.standsIn(longer.reduce((rest, product) => without(product.name, rest), text)),
  }
}

/** Whether a text mentions an archived product. */
export const mentionsArchived = (body: string, { products, archived }: Pick<DraftBrief, 'products' | 'archived'>): boolean => {
  const text = searchable(body)
  return archived.some((name) => archivedName(name, products).standsIn(text))
}

/** Numbers as bare digits, so that `1,200` and `1200` are one. */
const numbersOf = (text: string): string[] =>
  [...normalForm(text, 'NFKC').matchAll(/\d+(?:[.,' ]\d{3})*(?:[.,]\d+)?/g)].map(([number]) => number.replace(/\D/g, ''))

type Facts = Pick<DraftBrief, 'profile' | 'focus' | 'products'>

const factTexts = ({ profile, focus, products }: Facts): string[] => {
  const { stories, proof, patterns, use, voice_rules } = profile.writing_dna
  const offered = products.flatMap(({ name, one_liner, url }) => [name, one_liner, url ?? ''])
  return [profile.goal, profile.audience, profile.voice, focus, ...stories, ...proof, ...patterns, ...use, ...voice_rules, ...offered]
}

/** Everything in the brief that may be stated as a fact: what the person wrote, not earlier posts or learnings. */
export const factsOf = (brief: Facts): string => factTexts(brief).join('\n')

/** What a post is compared by. */
interface Fingerprint {
  folded: string
  words: Set<string>
}

/** More of a post than two different posts have in common. */
const COMPARED = 2_000

const fingerprints = new WeakMap<object, Fingerprint>()
const fingerprint = (post: RecentPost): Fingerprint => {
  const beginning = post.body.slice(0, COMPARED)
  const found = fingerprints.get(post) ?? { folded: foldText(beginning), words: wordSet(beginning) }
  fingerprints.set(post, found)
  return found
}

/** What all drafts of a brief are held against. */
export interface Standards {
  avoid: readonly Phrase[]
  /** The names of archived products. */
  archived: readonly Phrase[]
  /** The numbers that may be stated. */
  numbers: ReadonlySet<string>
}

const standards = new WeakMap<DraftBrief, Standards>()

/** Reads what the drafts of a brief are held against, step by step; `checkDraft` reads it at once where that was not done. */
export function* readStandards(brief: DraftBrief): Steps<Standards> {
  const known = standards.get(brief)
  if (known) return known
  const avoid: Phrase[] = []
  for (const phrase of new Set(brief.profile.writing_dna.avoid)) {
    avoid.push(phraseOf(phrase))
    yield
  }
  const archived: Phrase[] = []
  for (const name of new Set(brief.archived)) {
    archived.push(archivedName(name, brief.products))
    yield
  }
  const numbers = new Set<string>()
  for (const text of factTexts(brief)) {
    for (const number of numbersOf(text)) numbers.add(number)
    yield
  }
  for (const post of brief.recent) {
    fingerprint(post)
    yield
  }
  const read = { avoid, archived, numbers }
  standards.set(brief, read)
  return read
}

/** Numbers of `body` that the brief does not contain. Up to ten is counting ("3 things"), unless it measures something. */
const unsupportedNumbers = (body: string, known: ReadonlySet<string>): string[] => {
  const counting = new Set([...body.matchAll(/(?<![\d$€£.,])(?:[1-9]|10)(?![\d%.,]\d|\d|\s?%|\s?[kKmMxX]\b)/g)].map(([number]) => number))
  return numbersOf(body).filter((number) => !known.has(number) && !counting.has(number))
}

const isNearDuplicate = (mine: Fingerprint, theirs: Fingerprint): boolean => {
  const [smaller, larger] = mine.words.size < theirs.words.size ? [mine.words, theirs.words] : [theirs.words, mine.words]
  return smaller.size > NEAR_DUPLICATE * larger.size && overlapOf(smaller, larger) > NEAR_DUPLICATE
}

const isRepeat = (draft: Pick<Draft, 'body' | 'hook' | 'stories'>, other: RecentPost & Partial<Draft>): boolean => {
  const mine = fingerprint(draft)
  const theirs = fingerprint(other)
  if (mine.folded === theirs.folded || isNearDuplicate(mine, theirs)) return true
  return draft.hook === other.hook && draft.stories.some((story) => other.stories?.includes(story))
}

/** A body that is too long is searched for other faults only as far as one could shorten it. */
const SEARCHED = 4_000

/**
 * Every reason why `draft` may not be delivered; empty when it may. `accepted` are the drafts of the same batch before it.
 */
export const checkDraft = (
  draft: Pick<Draft, 'body' | 'hook' | 'stories'>,
  brief: DraftBrief,
  accepted: readonly (RecentPost & Partial<Draft>)[],
): DraftFault[] => {
  if (draft.body.trim() === '') return [{ kind: 'empty', detail: 'the body is empty' }]
  const { avoid, archived, numbers } = atOnce(readStandards(brief))
  const faults: DraftFault[] = []
  const length = brief.measure(draft.body)
  if (length > brief.maxLength)
    faults.push({ kind: 'too_long', detail: `the body has ${length} characters, at most ${brief.maxLength} fit` })
  if (faults.length > 0 && draft.body.length > SEARCHED) return faults
  const body = searchable(draft.body)
  for (const phrase of avoid) {
    if (phrase.standsIn(body)) faults.push({ kind: 'avoided', detail: `the body contains the avoided phrase "${phrase.text}"` })
  }
  for (const name of archived) {
    if (name.standsIn(body)) faults.push({ kind: 'archived', detail: `the body mentions the archived product "${name.text}"` })
  }
  if ([...brief.recent, ...accepted].some((other) => isRepeat(draft, other)))
    faults.push({ kind: 'repeated', detail: 'the body repeats a recent post or another draft of this batch' })
  const invented = unsupportedNumbers(draft.body, numbers)
  if (invented.length > 0) faults.push({ kind: 'unsupported', detail: `the profile does not contain the number ${invented.join(', ')}` })
  return faults
}
