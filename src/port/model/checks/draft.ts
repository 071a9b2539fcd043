import type { Draft, DraftBrief, RecentPost } from '#domain/growth/drafting/draft'
import { checkRules } from '#domain/growth/drafting/format-rules'
import {
  foldText,
  type Phrase,
  phraseOf,
  searchable,
  withoutPhrase,
} from '#domain/growth/drafting/phrase'
import { normalForm } from '#kernel/normal-form'

/** A reason to reject a draft; `detail` tells its writer what to change. */
export interface DraftFault {
  kind: 'empty' | 'too_long' | 'avoided' | 'archived' | 'repeated' | 'unsupported' | 'rule' | 'hook'
  detail: string
}

/** Two posts that share more than this part of their words are the same post. */
const NEAR_DUPLICATE = 0.8

const wordSegmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

/** The distinct words of a text, folded; works for scripts without spaces too. */
export const wordSet = (text: string): Set<string> => {
  const words = new Set<string>()
  for (const { segment, isWordLike } of wordSegmenter.segment(foldText(text)))
    if (isWordLike) words.add(segment)
  return words
}

/** The Jaccard index of two sets of words, 0 to 1. */
export const overlapOf = (a: ReadonlySet<string>, b: ReadonlySet<string>): number => {
  if (a.size === 0 || b.size === 0) return 0
  let common = 0
  for (const word of a) if (b.has(word)) common += 1
  return common / (a.size + b.size - common)
}

/**
 * The name of an archived product as a phrase. Inside the longer name of an active product it means
 * the active one.
 */
const archivedName = (name: string, products: DraftBrief['products']): Phrase => {
  const phrase = phraseOf(name)
  const longer = products.filter((product) => phrase.occursIn(searchable(product.name)))
  return {
    text: name,
    occursIn: (text) =>
      phrase.occursIn(text) &&
      phrase.occursIn(longer.reduce((rest, product) => withoutPhrase(product.name, rest), text)),
  }
}

/** Whether a text mentions an archived product. */
export const mentionsArchived = (
  body: string,
  { products, archived }: Pick<DraftBrief, 'products' | 'archived'>,
): boolean => {
  const text = searchable(body)
  return archived.some((name) => archivedName(name, products).occursIn(text))
}

/** Numbers as bare digits, so that `1,200` and `1200` are one. */
const numbersOf = (text: string): string[] =>
  [...normalForm(text, 'NFKC').matchAll(/\d+(?:[.,' ]\d{3})*(?:[.,]\d+)?/g)].map(([number]) =>
    number.replace(/\D/g, ''),
  )

type Facts = Pick<DraftBrief, 'profile' | 'focus' | 'products' | 'revise'>

const factTexts = ({ profile, focus, products, revise }: Facts): string[] => {
  const { stories, proof, patterns, use, voice_rules } = profile.writing_dna
  const offered = products.flatMap(({ name, one_liner, url }) => [name, one_liner, url ?? ''])
  return [
    profile.goal,
    profile.audience,
    profile.voice,
    focus,
    ...stories,
    ...proof,
    ...patterns,
    ...use,
    ...voice_rules,
    ...offered,
    ...(revise ? [revise.body, revise.hint] : []),
  ]
}

/**
 * Everything in the brief that a draft may state as fact: the person's own words, not earlier posts
 * or learnings.
 */
export const draftFacts = (brief: Facts): string => factTexts(brief).join('\n')

/** What two posts are compared by. */
interface Fingerprint {
  folded: string
  words: Set<string>
}

/** How many characters are compared. Two posts that agree this far are the same post. */
const COMPARED = 2_000

const fingerprints = new WeakMap<object, Fingerprint>()
const fingerprint = (post: RecentPost): Fingerprint => {
  const beginning = post.body.slice(0, COMPARED)
  const found = fingerprints.get(post) ?? { folded: foldText(beginning), words: wordSet(beginning) }
  fingerprints.set(post, found)
  return found
}

/** What all drafts of a brief are checked against. */
export interface Standards {
  avoid: readonly Phrase[]
  /** The names of archived products. */
  archived: readonly Phrase[]
  /** The numbers that may be stated. */
  numbers: ReadonlySet<string>
}

/** The phrases that no draft may contain. */
export const forbiddenIn = ({
  profile,
  archived,
  products,
}: Pick<DraftBrief, 'profile' | 'archived' | 'products'>): Pick<
  Standards,
  'avoid' | 'archived'
> => ({
  avoid: [...new Set(profile.writing_dna.avoid)].map(phraseOf),
  archived: [...new Set(archived)].map((name) => archivedName(name, products)),
})

const standards = new WeakMap<DraftBrief, Standards>()

/**
 * What the drafts of a brief are checked against, worked out once per brief. The largest brief
 * takes tenths of a second.
 */
export const standardsOf = (brief: DraftBrief): Standards => {
  const known = standards.get(brief)
  if (known) return known
  const read = { ...forbiddenIn(brief), numbers: new Set(factTexts(brief).flatMap(numbersOf)) }
  standards.set(brief, read)
  return read
}

/**
 * Numbers in `body` that the brief does not contain. Up to ten is counting ("3 things"), unless it
 * has a unit.
 */
const unsupportedNumbers = (body: string, known: ReadonlySet<string>): string[] => {
  const counting = new Set(
    [...body.matchAll(/(?<![\d$€£.,])(?:[1-9]|10)(?![\d%.,]\d|\d|\s?%|\s?[kKmMxX]\b)/g)].map(
      ([number]) => number,
    ),
  )
  return numbersOf(body).filter((number) => !known.has(number) && !counting.has(number))
}

const isNearDuplicate = (mine: Fingerprint, theirs: Fingerprint): boolean => {
  const [smaller, larger] =
    mine.words.size < theirs.words.size ? [mine.words, theirs.words] : [theirs.words, mine.words]
  return smaller.size > NEAR_DUPLICATE * larger.size && overlapOf(smaller, larger) > NEAR_DUPLICATE
}

const isRepeat = (
  draft: Pick<Draft, 'body' | 'hook' | 'stories'>,
  other: RecentPost & Partial<Draft>,
): boolean => {
  const mine = fingerprint(draft)
  const theirs = fingerprint(other)
  if (mine.folded === theirs.folded || isNearDuplicate(mine, theirs)) return true
  return draft.hook === other.hook && draft.stories.some((story) => other.stories?.includes(story))
}

/** If a body is too long anyway and longer than this, it is not searched for other faults. */
const SEARCHED = 4_000

/**
 * Every reason to reject `draft`; empty if it is valid. `accepted` are the drafts of the same batch
 * before it.
 */
export const checkDraft = (
  draft: Pick<Draft, 'body' | 'hook' | 'stories'>,
  brief: DraftBrief,
  accepted: readonly (RecentPost & Partial<Draft>)[],
): DraftFault[] => {
  if (draft.body.trim() === '') return [{ kind: 'empty', detail: 'the body is empty' }]
  const { avoid, archived, numbers } = standardsOf(brief)
  const faults: DraftFault[] = []
  const length = brief.measure(draft.body)
  if (length > brief.maxLength)
    faults.push({
      kind: 'too_long',
      detail: `the body has ${length} characters, at most ${brief.maxLength} fit`,
    })
  if (faults.length > 0 && draft.body.length > SEARCHED) return faults
  const broken = checkRules(draft.body, brief.rules, brief.measure).filter(
    ({ rule }) => rule !== 'max_length' || faults.length === 0,
  )
  for (const { rule, message } of broken)
    faults.push({ kind: 'rule', detail: `the body breaks the rule ${rule}: ${message}` })
  const body = searchable(draft.body)
  for (const phrase of avoid) {
    if (phrase.occursIn(body))
      faults.push({
        kind: 'avoided',
        detail: `the body contains the avoided phrase "${phrase.text}"`,
      })
  }
  for (const name of archived) {
    if (name.occursIn(body))
      faults.push({
        kind: 'archived',
        detail: `the body mentions the archived product "${name.text}"`,
      })
  }
  if ([...brief.recent, ...accepted].some((other) => isRepeat(draft, other)))
    faults.push({
      kind: 'repeated',
      detail: 'the body repeats a recent post or another draft of this batch',
    })
  if (draft.body.trim() === brief.revise?.body.trim())
    faults.push({ kind: 'repeated', detail: 'the body is the same as before' })
  const invented = unsupportedNumbers(draft.body, numbers)
  if (invented.length > 0)
    faults.push({
      kind: 'unsupported',
      detail: `the profile does not contain the number ${invented.join(', ')}`,
    })
  return faults
}
