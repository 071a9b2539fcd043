import type { BriefProduct, DraftBrief } from '#domain/growth/drafting/draft'
import { type Phrase, searchable } from '#domain/growth/drafting/phrase'
import { allowanceFor, type ReadingLimit, sentencesIn } from '#domain/growth/reading/entries'
import type { Focus } from '#domain/growth/reading/focus'
import { dependsOnBefore, inlineListOf, looksComplete, rolesOf, type SentenceRole, unlabelled } from '#domain/growth/reading/roles'
import { capitalised, ended } from '#domain/growth/reading/sentences'
import { restyled, type Style } from '#domain/growth/reading/style'
import { shared, termsOf, wordLine, wordsOf } from '#domain/growth/reading/words'
import { type Random, sampleOf, wantedFirst } from '#kernel/random'

/** One whole sentence of the person's own, ready to stand in a post. */
export interface Unit {
  text: string
  /** The text without a label such as `The lesson:`, where it has one. */
  bare: string | undefined
  source: 'story' | 'proof' | 'news' | 'use' | 'product'
  /** The entry of the profile that it comes from, verbatim. */
  origin: string
  roles: ReadonlySet<SentenceRole>
  /** Understood without the sentence before it. */
  standalone: boolean
  /** A sentence with a subject and a verb, as far as form shows. */
  complete: boolean
  terms: ReadonlySet<string>
  /** The words alone, by which the sentence is found in earlier posts. */
  line: string
  words: number
  /** Head and entries, where the sentence enumerates. */
  list: { head: string; entries: string[] } | undefined
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

/** What the drafts are made from. */
export interface Material {
  stories: Story[]
  proof: Unit[]
  offers: Offer[]
  /** Phrases of the person's that are sentences by themselves. */
  sayings: Unit[]
  /** Phrases of the person's that are only terms: material that has them is preferred. */
  terms: string[]
  /** Whom the posts are for, as a noun phrase that can open a line. */
  audience: string | undefined
  /** How the person speaks of themselves. */
  person: 'I' | 'we' | undefined
  /** Sentences that were left out because of the avoid-list. */
  avoided: number
  /** Sentences that were left out because no post holds one so long. */
  overlong: number
}

/** What decides which sentences are material. */
export interface Rules {
  style: Style
  avoid: readonly Phrase[]
  focus: Focus
  language: string
  /** The longest sentence that can be part of a post, in UTF-16 units. */
  longest: number
  /** Draws the sample where the profile has more than is read. */
  random: Random
}

const PLACEHOLDER = /\[[^\]]*\]|\{[^}]*\}|<[^>]+>|\bTODO\b|\bTBD\b|lorem ipsum|_{3,}/i
const DIRECTION =
  /^(?:tell (?:the|a|them|people)|write about|mention (?:that|how|the)|talk about|post about|share the story|story about|use this)\b/i

const bareOf = (sentence: string): string | undefined => {
  const bare = unlabelled(sentence)
  return bare === undefined ? undefined : capitalised(ended(bare))
}

const unitOf = (sentence: string, source: Unit['source'], origin: string): Omit<Unit, 'standalone'> => ({
  text: capitalised(ended(sentence)),
  bare: bareOf(sentence),
  source,
  origin,
  roles: rolesOf(sentence),
  complete: looksComplete(sentence),
  terms: termsOf(sentence),
  line: wordLine(unlabelled(sentence) ?? sentence),
  words: wordsOf(sentence).length,
  list: inlineListOf(sentence),
})

interface Read {
  units: Unit[]
  avoided: number
  overlong: number
}

const has = (text: string, phrases: readonly Phrase[]): boolean => {
  const searched = searchable(text)
  return phrases.some((phrase) => phrase.occursIn(searched))
}

interface Entry {
  text: string
  source: Unit['source']
  allowance: ReadingLimit
}

/**
 * The usable sentences of one entry. After a sentence that had to be left out the next one is no longer told in order, so
 * the reading stops there unless that next sentence stands alone.
 */
const unitsOf = (entry: Entry, { style, avoid, language, longest }: Rules): Read => {
  const read: Read = { units: [], avoided: 0, overlong: 0 }
  if (DIRECTION.test(entry.text.trim())) return read
  const sentences = sentencesIn(entry.text, entry.allowance, language)
  if (sentences.length === 0 && entry.text.length > entry.allowance.characters) read.overlong += 1
  let broken = false
  for (const [index, { text: sentence, afterGap }] of sentences.entries()) {
    const overlong = sentence.length > longest
    const text = overlong || PLACEHOLDER.test(sentence) ? undefined : restyled(sentence, style)
    const avoided = text !== undefined && has(text, avoid)
    const standalone = index === 0 || (style.english && !overlong && !dependsOnBefore(sentence))
    if (avoided) read.avoided += 1
    if (overlong) read.overlong += 1
    if (text === undefined || text === '' || avoided || ((broken || afterGap) && !standalone)) {
      broken = true
      continue
    }
    broken = false
    read.units.push({ ...unitOf(text, entry.source, entry.text), standalone })
  }
  return read
}

const AUDIENCE_LENGTH = 60

/** Only a plain noun phrase: no list of demographics, no sentence. */
const audienceOf = (audience: string, { style, avoid }: Rules): string | undefined => {
  const phrase = audience
    .trim()
    .replace(/^(?:our audience is|my audience is|for|targeting|target:?|aimed at)\s+/i, '')
    .replace(/\.$/, '')
  const usable =
    phrase.length >= 4 &&
    phrase.length <= AUDIENCE_LENGTH &&
    !/[\n.!?:;,"“”()[\]{}<>@#/\\|&+]|\b\d|\bI\b|\b(?:we|they|is|our|my|your|a|an|anyone|anybody|everyone|someone|aged)\b/i.test(phrase)
  if (!usable || !/s\b/.test(phrase) || has(phrase, avoid)) return undefined
  return style.english ? capitalised(phrase) : undefined
}

const personOf = (texts: readonly string[]): Material['person'] => {
  const all = texts.join(' ')
  const we = all.match(/\b(?:we|our|us)\b/gi)?.length ?? 0
  const single = all.match(/\b(?:I|my|me|I['’]\w+)\b/g)?.length ?? 0
  if (we === 0 && single === 0) return undefined
  return we > single ? 'we' : 'I'
}

/** A phrase that the person ended like a sentence is one; others need a verb. */
const isSaying = (unit: Unit): boolean => {
  if (unit.words < 2 || unit.words > 14) return false
  return (
    /[.!?]["”’']?$/.test(unit.origin.trim()) ||
    (unit.words >= 3 && (unit.complete || unit.roles.has('rule')) && dependsOnNothing(unit.origin))
  )
}

/** `boring is a feature` is a sentence; `teams that ship` is a term. */
const dependsOnNothing = (phrase: string): boolean => !/^\S+\s+(?:that|who|which|whose)\b/i.test(phrase)

/** With more entries of one kind than this, a sample of them is used. */
const MOST_ENTRIES = 60
const MOST_FOCUS_TERMS = 12

const speaksOf = ({ terms }: Focus): ((entry: string) => boolean) => {
  const sought = [...terms].slice(0, MOST_FOCUS_TERMS)
  return (entry) => {
    const text = entry.toLowerCase()
    return sought.some((term) => text.includes(term))
  }
}

/** A name stays as it is written; a one-liner that begins with it is not told it twice. */
const offerOf = ({ name, one_liner, url }: BriefProduct, { style, avoid, longest }: Rules): Offer | undefined => {
  const named = searchable(one_liner).folded.startsWith(searchable(name).folded)
  const text = restyled(ended(named ? one_liner : `${name}: ${one_liner}`), style)
  if (text === undefined || text.length > longest || has(text, avoid)) return undefined
  const line = wordLine(text)
  const base = { text, bare: undefined, source: 'product', origin: text, roles: rolesOf(text), complete: looksComplete(text) } as const
  const unit: Unit = { ...base, standalone: true, terms: termsOf(text), line, words: wordsOf(text).length, list: undefined }
  return { name, unit, url: url === null || has(url, avoid) ? undefined : url }
}

interface ReadEntry extends Read {
  origin: string
  /** What was read of it. */
  text: string
}

/** Reads entries until enough of them turned out usable; of too many those on the focus first, the others at random. */
const readEntries = (all: readonly string[], source: Unit['source'], rules: Rules): ReadEntry[] => {
  const distinct = [...new Set(all)]
  const order = distinct.length > MOST_ENTRIES ? wantedFirst(rules.random, distinct, speaksOf(rules.focus)) : distinct
  const allowance = allowanceFor(order.length)
  const entries: ReadEntry[] = []
  let usable = 0
  for (const origin of order) {
    const read = unitsOf({ text: origin, source, allowance }, rules)
    entries.push({ ...read, origin, text: origin.slice(0, allowance.characters) })
    if (read.units.length > 0) usable += 1
    if (usable === MOST_ENTRIES) break
  }
  return entries
}

/** A longer phrase ends no post; its beginning counts as a term. */
const LONGEST_PHRASE = 200
const MOST_SAYINGS = 24

/** Reads the phrases to use, each as a saying or as a term. */
const readPhrases = (entries: readonly string[], rules: Rules): Pick<Material, 'sayings' | 'terms' | 'avoided'> => {
  const allowance = allowanceFor(entries.length)
  const sayings: Unit[] = []
  const terms: string[] = []
  let avoided = 0
  for (const entry of entries) {
    const isLong = entry.length > LONGEST_PHRASE
    const read = isLong ? undefined : unitsOf({ text: entry, source: 'use', allowance }, rules)
    const said = read?.units.filter(isSaying) ?? []
    if (read?.units.length === 1) sayings.push(...said)
    if (said.length === 0) terms.push(entry.slice(0, LONGEST_PHRASE))
    avoided += read?.avoided ?? 0
  }
  const wanted = (saying: Unit) => shared(saying.terms, rules.focus.terms) > 0
  return { sayings: [...sampleOf(rules.random, sayings, { most: MOST_SAYINGS, wanted })], terms, avoided }
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)

/**
 * Reads profile, products and the news of the focus into sentences; what the avoid-list or the rules exclude is not in it.
 */
export const readMaterial = ({ profile, products }: DraftBrief, rules: Rules): Material => {
  const { stories, proof, use } = profile.writing_dna
  const { statements } = rules.focus
  const news = readEntries(statements.length > 0 ? [statements.join(' ')] : [], 'news', rules)
  const narrated = readEntries(stories, 'story', rules)
  const proven = readEntries(proof, 'proof', rules)
  const phrases = readPhrases(use, rules)
  const read = [...news, ...narrated, ...proven]
  const asStory =
    (source: Story['source']) =>
    ({ origin, units }: ReadEntry): Story => ({ origin, source, units })
  return {
    stories: [...news.map(asStory('news')), ...narrated.map(asStory('story'))].filter(({ units }) => units.length > 0),
    proof: proven.flatMap(({ units }) => units),
    offers: products.flatMap((product) => offerOf(product, rules) ?? []),
    sayings: phrases.sayings,
    terms: phrases.terms,
    audience: audienceOf(profile.audience, rules),
    person: rules.style.person ?? personOf([...narrated, ...proven].map(({ text }) => text)),
    avoided: total(read.map(({ avoided }) => avoided)) + phrases.avoided,
    overlong: total(read.map(({ overlong }) => overlong)),
  }
}
