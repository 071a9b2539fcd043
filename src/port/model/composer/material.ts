import type { Profile } from '#domain/profile'
import { containsPhrase } from '../check-draft.ts'
import type { Focus } from './focus.ts'
import { dependsOnBefore, inlineListOf, looksComplete, type Role, rolesOf, unlabelled } from './roles.ts'
import { restyled, type Style } from './style.ts'
import { capitalised, ended, sentencesOf, termsOf, unmarked, wordLine, wordsOf } from './text.ts'

/** One whole sentence of the person's own, ready to stand in a post. */
export interface Unit {
  text: string
  /** The text without a label such as `The lesson:`, where it has one. */
  bare: string | undefined
  source: 'story' | 'proof' | 'news' | 'use'
  /** The entry of the profile that it comes from, verbatim. */
  origin: string
  roles: ReadonlySet<Role>
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

/** What the drafts are made from. */
export interface Material {
  stories: Story[]
  proof: Unit[]
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
}

interface Rules {
  style: Style
  avoid: readonly string[]
  language: string
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
}

/**
 * The usable sentences of one entry. After a sentence that had to be left out the next one is no longer told in order, so
 * the reading stops there unless that next sentence stands alone.
 */
const unitsOf = (entry: string, source: Unit['source'], { style, avoid, language }: Rules): Read => {
  const read: Read = { units: [], avoided: 0 }
  if (DIRECTION.test(entry.trim())) return read
  let broken = false
  for (const [index, sentence] of entry
    .split(/\n+/)
    .flatMap((line) => sentencesOf(unmarked(line), language))
    .entries()) {
    const text = PLACEHOLDER.test(sentence) ? undefined : restyled(sentence, style)
    const avoided = text !== undefined && avoid.some((phrase) => containsPhrase(text, phrase))
    const standalone = index === 0 || (style.english && !dependsOnBefore(sentence))
    if (avoided) read.avoided += 1
    if (text === undefined || text === '' || avoided || (broken && !standalone)) {
      broken = true
      continue
    }
    broken = false
    read.units.push({ ...unitOf(text, source, entry), standalone })
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
  if (!usable || !/s\b/.test(phrase) || avoid.some((term) => containsPhrase(phrase, term))) return undefined
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

/** Reads the profile and the news of the focus into sentences; what the avoid-list or the rules exclude is not in it. */
export const materialOf = (profile: Profile, focus: Focus, style: Style): Material => {
  const dna = profile.writing_dna
  const rules: Rules = { style, avoid: [...dna.avoid, ...style.avoid], language: profile.language }
  const told = (entries: readonly string[], source: Story['source']) =>
    entries.map((origin) => ({ origin, source, ...unitsOf(origin, source, rules) }))
  const news = told(focus.statements.length > 0 ? [focus.statements.join(' ')] : [], 'news')
  const stories = [...news, ...told([...new Set(dna.stories)], 'story')]
  const proof = [...new Set(dna.proof)].map((entry) => unitsOf(entry, 'proof', rules))
  const phrases = dna.use.map((entry) => ({ entry, read: unitsOf(entry, 'use', rules) }))
  return {
    stories: stories.filter(({ units }) => units.length > 0),
    proof: proof.flatMap(({ units }) => units),
    sayings: phrases.flatMap(({ read }) => (read.units.length === 1 ? read.units.filter(isSaying) : [])),
    terms: phrases.filter(({ read }) => !read.units.some(isSaying)).map(({ entry }) => entry),
    audience: audienceOf(profile.audience, rules),
    person: style.person ?? personOf([...dna.stories, ...dna.proof]),
    avoided: [...stories, ...proof, ...phrases.map(({ read }) => read)].reduce((sum, { avoided }) => sum + avoided, 0),
  }
}
