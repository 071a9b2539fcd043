import type { BriefProduct, DraftBrief } from '#domain/growth/drafting/draft'
import { occursAny, type Phrase, searchable } from '#domain/growth/drafting/phrase'
import type { Profile } from '#domain/growth/drafting/profile'
import { allowanceFor, type ReadingLimit, sentencesIn } from '#domain/growth/reading/entries'
import type { Focus } from '#domain/growth/reading/focus'
import { audienceIn, personIn } from '#domain/growth/reading/people'
import { dependsOnBefore } from '#domain/growth/reading/roles'
import { isMaxim, readSentence, type Sentence } from '#domain/growth/reading/sentence'
import { withFullStop } from '#domain/growth/reading/sentences'
import { restyle, type Style } from '#domain/growth/reading/style'
import { countShared, wordLine } from '#domain/growth/reading/words'
import { type Random, sampleOf, wantedFirst } from '#kernel/random'

/** One of the person's sentences, ready for a post. */
export interface Unit extends Sentence {
  source: 'story' | 'proof' | 'news' | 'use' | 'product'
  /** The entry of the profile that it comes from, verbatim. */
  origin: string
  /** Understood without the sentence before it. */
  standalone: boolean
}

/** A story, told in whole sentences. */
export interface Story {
  origin: string
  source: 'story' | 'news'
  units: Unit[]
}

/** A product that may be mentioned. */
export interface Offer {
  name: string
  /** Its name and what it is. */
  unit: Unit
  url: string | undefined
}

/**
 * How many sentences cannot be used: for an avoided phrase, or because they are too long for any
 * post.
 */
interface LeftOut {
  avoided: number
  overlong: number
}

/** What the drafts are made from. */
export interface Material extends LeftOut {
  stories: Story[]
  proof: Unit[]
  offers: Offer[]
  /** The person's phrases that are sentences. */
  sayings: Unit[]
  /** The person's phrases that are mere terms: material that contains them is preferred. */
  terms: string[]
  /** The audience as a noun phrase that can open a line. */
  audience: string | undefined
  /** How the person speaks of themselves. */
  person: 'I' | 'we' | undefined
}

/** What decides which sentences are material. */
export interface Rules {
  style: Style
  avoid: readonly Phrase[]
  focus: Focus
  language: string
  /** The longest sentence that can be part of a post, in UTF-16 units. */
  longest: number
  /** Draws the sample if the profile has more than is read. */
  random: Random
}

interface Reader extends Rules {
  leftOut: LeftOut
}

const PLACEHOLDER = /\[[^\]]*\]|\{[^}]*\}|<[^>]+>|\bTODO\b|\bTBD\b|lorem ipsum|_{3,}/i
const DIRECTION =
  /^(?:tell (?:the|a|them|people)|write about|mention (?:that|how|the)|talk about|post about|share the story|story about|use this)\b/i

interface Entry<S extends Unit['source']> {
  origin: string
  source: S
  allowance: ReadingLimit
}

/**
 * The usable sentences of one entry. A sentence that leans on one that was left out is left out
 * too.
 */
const unitsOf = (
  { origin, source, allowance }: Entry<Unit['source']>,
  { style, avoid, language, longest, leftOut }: Reader,
): Unit[] => {
  if (DIRECTION.test(origin.trim())) return []
  const sentences = sentencesIn(origin, allowance, language)
  if (sentences.length === 0 && origin.length > allowance.characters) leftOut.overlong += 1
  let broken = false
  return sentences.flatMap(({ text: sentence, afterGap }, index) => {
    const overlong = sentence.length > longest
    const text = overlong || PLACEHOLDER.test(sentence) ? undefined : restyle(sentence, style)
    const avoided = text !== undefined && occursAny(avoid, text)
    const standalone = index === 0 || (style.english && !overlong && !dependsOnBefore(sentence))
    if (avoided) leftOut.avoided += 1
    if (overlong) leftOut.overlong += 1
    broken = text === undefined || text === '' || avoided || ((broken || afterGap) && !standalone)
    return broken ? [] : [{ ...readSentence(text ?? ''), source, origin, standalone }]
  })
}

const materialLimits = {
  /** If there are more entries of one kind than this, a sample is used. */
  entries: 60,
  focusTerms: 12,
  /** A longer phrase cannot end a post; its beginning counts as a term. */
  phraseLength: 200,
  sayings: 24,
} as const

const speaksOf = ({ terms }: Focus, entry: string): boolean => {
  const text = entry.toLowerCase()
  return [...terms].slice(0, materialLimits.focusTerms).some((term) => text.includes(term))
}

/** The name keeps its spelling, and is not repeated before a one-liner that begins with it. */
const offerOf = (
  { name, one_liner, url }: BriefProduct,
  { style, avoid, longest }: Rules,
): Offer[] => {
  const named = searchable(one_liner).folded.startsWith(searchable(name).folded)
  const text = restyle(withFullStop(named ? one_liner : `${name}: ${one_liner}`), style)
  if (text === undefined || text.length > longest || occursAny(avoid, text)) return []
  const asWritten = { text, bare: undefined, line: wordLine(text), list: undefined }
  const unit: Unit = {
    ...readSentence(text),
    ...asWritten,
    source: 'product',
    origin: text,
    standalone: true,
  }
  return [{ name, unit, url: url === null || occursAny(avoid, url) ? undefined : url }]
}

/**
 * Reads entries until enough are usable; of too many, those on the focus first and the others at
 * random.
 */
const readEntries = <S extends Unit['source']>(
  all: readonly string[],
  source: S,
  reader: Reader,
) => {
  const distinct = [...new Set(all)]
  const order =
    distinct.length > materialLimits.entries
      ? wantedFirst(reader.random, distinct, (entry) => speaksOf(reader.focus, entry))
      : distinct
  const allowance = allowanceFor(order.length)
  const entries: { origin: string; source: S; units: Unit[]; read: string }[] = []
  let usable = 0
  for (const origin of order) {
    const units = unitsOf({ origin, source, allowance }, reader)
    entries.push({ origin, source, units, read: origin.slice(0, allowance.characters) })
    if (units.length > 0) usable += 1
    if (usable === materialLimits.entries) break
  }
  return entries
}

/** Reads the phrases to use, each as a saying or as a term. */
const readPhrases = (
  entries: readonly string[],
  reader: Reader,
): Pick<Material, 'sayings' | 'terms'> => {
  const allowance = allowanceFor(entries.length)
  const read = entries.map((origin) => {
    const units =
      origin.length > materialLimits.phraseLength
        ? []
        : unitsOf({ origin, source: 'use', allowance }, reader)
    return { origin, units, said: units.filter((unit) => isMaxim(unit, origin)) }
  })
  const sayings = read.flatMap(({ units, said }) => (units.length === 1 ? said : []))
  const wanted = (saying: Unit) => countShared(saying.terms, reader.focus.terms) > 0
  return {
    sayings: [...sampleOf(reader.random, sayings, { most: materialLimits.sayings, wanted })],
    terms: read.flatMap(({ origin, said }) =>
      said.length === 0 ? [origin.slice(0, materialLimits.phraseLength)] : [],
    ),
  }
}

/**
 * Reads profile, products and news into sentences, without those that the avoid list or the rules
 * exclude.
 */
export const readMaterial = (
  { profile, products }: Pick<DraftBrief, 'profile' | 'products'>,
  rules: Rules,
): Material => {
  const { style, focus, avoid } = rules
  const reader: Reader = { ...rules, leftOut: { avoided: 0, overlong: 0 } }
  const { stories, proof, use } = profile.writing_dna
  const news = readEntries(
    focus.statements.length > 0 ? [focus.statements.join(' ')] : [],
    'news',
    reader,
  )
  const narrated = readEntries(stories, 'story', reader)
  const proven = readEntries(proof, 'proof', reader)
  const audience = style.english ? audienceIn(profile.audience) : undefined
  return {
    stories: [...news, ...narrated].filter(({ units }) => units.length > 0),
    proof: proven.flatMap(({ units }) => units),
    ...readPhrases(use, reader),
    offers: products.flatMap((product) => offerOf(product, rules)),
    audience: audience !== undefined && occursAny(avoid, audience) ? undefined : audience,
    person: style.person ?? personIn([...narrated, ...proven].map(({ read }) => read)),
    ...reader.leftOut,
  }
}

/** The stories of the profile that the sentences come from, verbatim. */
export const storiesOf = (
  units: readonly Unit[],
  { writing_dna: { stories } }: Profile,
): string[] => {
  const origins = new Set(units.map(({ origin }) => origin))
  return [...new Set(stories)].filter((story) => origins.has(story))
}
