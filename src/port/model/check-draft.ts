import type { Draft, DraftBrief, RecentPost } from '#domain/draft'
import type { Profile } from '#domain/profile'

/** What keeps a draft from being delivered; `detail` is worded for whoever has to rewrite it. */
export interface DraftFault {
  kind: 'empty' | 'too_long' | 'avoided' | 'repeated' | 'unsupported'
  detail: string
}

/** Above this share of common words two posts count as the same post. */
const NEAR_DUPLICATE = 0.8

const wordSegmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** One spelling for comparison: NFKC, lower case, straight quotes, single spaces, no invisible characters. */
export const foldText = (text: string): string =>
  text
    .normalize('NFKC')
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
const joins = (character: string | undefined): boolean =>
  character !== undefined && spacedLetter.test(character) && !unspacedLetter.test(character)

/** True when `phrase` stands in `text` as whole words, whatever its case, width or quotes. An empty phrase is nowhere. */
export const containsPhrase = (text: string, phrase: string): boolean => {
  const needle = [...foldText(phrase)]
  const hay = [...foldText(text)]
  if (needle.length === 0) return false
  for (let at = 0; at + needle.length <= hay.length; at += 1) {
    if (!needle.every((character, offset) => hay[at + offset] === character)) continue
    const cutsBefore = joins(needle[0]) && joins(hay[at - 1])
    const cutsAfter = joins(needle.at(-1)) && joins(hay[at + needle.length])
    if (!cutsBefore && !cutsAfter) return true
  }
  return false
}

/** Numbers as bare digits, so that `1,200` and `1200` are one. */
const numbersOf = (text: string): string[] =>
  [...text.normalize('NFKC').matchAll(/\d+(?:[.,' ]\d{3})*(?:[.,]\d+)?/g)].map(([number]) => number.replace(/\D/g, ''))

/** Everything in the brief that may be stated as a fact: what the person wrote, not earlier posts or learnings. */
export const factsOf = ({ profile, focus }: { profile: Profile; focus: string }): string => {
  const { stories, proof, patterns, use, voice_rules } = profile.writing_dna
  return [profile.goal, profile.audience, profile.voice, focus, ...stories, ...proof, ...patterns, ...use, ...voice_rules].join('\n')
}

/** Numbers of `body` that the brief does not contain. Up to ten is counting ("3 things"), unless it measures something. */
const unsupportedNumbers = (body: string, brief: DraftBrief): string[] => {
  const known = new Set(numbersOf(factsOf(brief)))
  const counting = new Set([...body.matchAll(/(?<![\d$€£.,])(?:[1-9]|10)(?![\d%.,]\d|\d|\s?%|\s?[kKmMxX]\b)/g)].map(([number]) => number))
  return numbersOf(body).filter((number) => !known.has(number) && !counting.has(number))
}

/** A batch compares each of its candidates with the same recent posts. */
const known = new WeakMap<object, { folded: string; words: Set<string> }>()
const fingerprint = (post: RecentPost) => {
  const cached = known.get(post) ?? { folded: foldText(post.body), words: wordSet(post.body) }
  known.set(post, cached)
  return cached
}

const isRepeat = (draft: Pick<Draft, 'body' | 'hook' | 'stories'>, other: RecentPost & Partial<Draft>): boolean => {
  const mine = fingerprint(draft)
  const theirs = fingerprint(other)
  if (mine.folded === theirs.folded || overlapOf(mine.words, theirs.words) > NEAR_DUPLICATE) return true
  return draft.hook === other.hook && draft.stories.some((story) => other.stories?.includes(story))
}

/**
 * Every reason why `draft` may not be delivered; empty when it may. `accepted` are the drafts of the same batch before it.
 */
export const checkDraft = (
  draft: Pick<Draft, 'body' | 'hook' | 'stories'>,
  brief: DraftBrief,
  accepted: readonly (RecentPost & Partial<Draft>)[],
): DraftFault[] => {
  if (draft.body.trim() === '') return [{ kind: 'empty', detail: 'the body is empty' }]
  const faults: DraftFault[] = []
  const length = brief.measure(draft.body)
  if (length > brief.maxLength)
    faults.push({ kind: 'too_long', detail: `the body has ${length} characters, at most ${brief.maxLength} fit` })
  for (const phrase of brief.profile.writing_dna.avoid) {
    if (containsPhrase(draft.body, phrase)) faults.push({ kind: 'avoided', detail: `the body contains the avoided phrase "${phrase}"` })
  }
  if ([...brief.recent, ...accepted].some((other) => isRepeat(draft, other)))
    faults.push({ kind: 'repeated', detail: 'the body repeats a recent post or another draft of this batch' })
  const invented = unsupportedNumbers(draft.body, brief)
  if (invented.length > 0) faults.push({ kind: 'unsupported', detail: `the profile does not contain the number ${invented.join(', ')}` })
  return faults
}
