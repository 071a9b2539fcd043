import type { BriefLearning, DraftBrief } from '#domain/draft'
import type { Steps } from '../pace.ts'
import type { Candidate } from './candidate.ts'
import { type Cue, cuesOf, withoutCues } from './cues.ts'
import type { Focus } from './focus.ts'
import type { Material } from './material.ts'
import type { Style } from './style.ts'
import { excerpt, shared, termsOf } from './text.ts'

const EXCERPT = 60

interface Pattern {
  /** How a rationale names it. */
  excerpt: string
  /** What it asks the opening to be. */
  lead: Cue[]
  /** It asks for a question at the end. */
  endsOnQuestion: boolean
}

/** A learning, read for what it speaks of. */
export interface Learning {
  id: string
  kind: BriefLearning['kind']
  /** How a rationale names it. */
  excerpt: string
  cues: { cue: Cue; negated: boolean }[]
  terms: Set<string>
}

/** Everything in the brief that makes one candidate better than another. */
export interface Guidance {
  focus: Focus
  goal: Set<string>
  preferred: Set<string>
  patterns: Pattern[]
  learnings: Learning[]
  style: Style
}

/** What the guidance says of one candidate. */
export interface Advice {
  /** Multiplies the weight. */
  factor: number
  relevant: boolean
  patterns: Pattern[]
  /** Learnings that speak for it. */
  learnings: Learning[]
  goal: boolean
}

/** `Start with a number, then what it cost`: the part before "then" or "end with" speaks of the opening. */
const headOf = (pattern: string): string =>
  pattern.split(/,?\s+\bthen\b(?!.{0,20}\bnow\b)|[,;]\s+|\b(?:end|close|finish)(?:s|ing)?\s+(?:with|on)\b/i)[0] ?? ''

/** So much of a pattern or of a note is read. */
const LONGEST_READ = 400

const patternOf = (pattern: string): Pattern => {
  const text = pattern.slice(0, LONGEST_READ)
  const whole = cuesOf(text).filter(({ negated }) => !negated)
  const head = cuesOf(headOf(text)).filter(({ negated }) => !negated)
  const shape = whole.find(({ cue }) => cue === 'before-after' || cue === 'contrarian')
  const endsOnQuestion = /\b(?:end|close|finish)(?:s|ing)?\s+(?:with|on)\b[^.]*(?:question|\bask)/i.test(text)
  return { excerpt: excerpt(pattern, EXCERPT), lead: shape ? [shape.cue] : head.map(({ cue }) => cue), endsOnQuestion }
}

const NOTE_WORDS =
  /\b(?:work(?:s|ed)?|flop(?:s|ped)?|perform\w*|better|best|worse|worst|well|badly|likes?|repl(?:y|ies)|impressions?|engagement|reach|views?|clicks?|opens?|opening|opened|openers?|average|double[ds]?|tripled?|more|less|than|got|get|hooks?|format|drafts?|tweets?|mention\w*|topics?|about|audience|readers?)\b/gi

export const learningOf = ({ id, kind, note }: BriefLearning): Learning => {
  const text = note.slice(0, LONGEST_READ)
  return {
    id,
    kind,
    excerpt: excerpt(note, EXCERPT),
    cues: cuesOf(text),
    terms: termsOf(withoutCues(text).replace(NOTE_WORDS, ' ')),
  }
}

function* mapped<T, R>(items: readonly T[], read: (item: T) => R): Steps<R[]> {
  const results: R[] = []
  for (const item of items) {
    results.push(read(item))
    yield
  }
  return results
}

/** Reads patterns, learnings, goal and focus of a brief, one of them a step. */
export function* readGuidance({
  brief,
  focus,
  material,
  style,
}: {
  brief: DraftBrief
  focus: Focus
  material: Material
  style: Style
}): Steps<Guidance> {
  const patterns = yield* mapped(style.english ? brief.profile.writing_dna.patterns : [], patternOf)
  const learnings = yield* mapped(brief.learnings, learningOf)
  return { focus, goal: termsOf(brief.profile.goal), preferred: termsOf(material.terms.join(' ')), patterns, learnings, style }
}

const termsIn = ({ units }: Candidate): Set<string> => new Set(units.flatMap(({ terms }) => [...terms]))

/** 1 when a learning speaks of this kind of post, -1 when it speaks of doing without it, else 0. */
const bearing = (learning: Learning, candidate: Candidate, terms: ReadonlySet<string>): number => {
  const cue = learning.cues.find((found) => candidate.tags.has(found.cue))
  if (cue) return cue.negated ? -1 : 1
  const needed = Math.min(2, learning.terms.size)
  return learning.cues.length === 0 && needed > 0 && shared(learning.terms, terms) >= needed ? 1 : 0
}

const LEARNING_FACTOR = { worked: 2.4, hypothesis: 1.3, flopped: 0.25 } as const

const learned = (guidance: Guidance, candidate: Candidate, terms: ReadonlySet<string>) => {
  const speaking = guidance.learnings
    .map((learning) => ({ learning, sign: bearing(learning, candidate, terms) }))
    .filter(({ sign }) => sign !== 0)
  const factor = speaking.reduce((product, { learning, sign }) => product * LEARNING_FACTOR[learning.kind] ** sign, 1)
  const followed = speaking
    .filter(({ learning, sign }) => (learning.kind === 'flopped' ? sign < 0 : sign > 0))
    .map(({ learning }) => learning)
  return { factor: Math.min(12, Math.max(0.02, factor)), followed }
}

const LONG_SENTENCE = 18
/** With more terms than this, a single one in common is chance. */
const BROAD_FOCUS = 5

/** Weighs a candidate; relevance to the focus is compared among candidates by the caller. */
export const advise = (guidance: Guidance, candidate: Candidate): Advice => {
  const terms = termsIn(candidate)
  const common = shared(guidance.focus.terms, terms)
  const onFocus = common >= (guidance.focus.terms.size > BROAD_FOCUS ? 2 : 1) ? common : 0
  const news = candidate.units.some(({ source }) => source === 'news')
  const patterns = guidance.patterns.filter(({ lead }) => lead.some((cue) => candidate.tags.has(cue)))
  const { factor, followed } = learned(guidance, candidate, terms)
  const goal = shared(guidance.goal, terms)
  const long = guidance.style.shortSentences && candidate.units.some(({ words }) => words > LONG_SENTENCE)
  const weight =
    factor *
    (1 + 2 * Math.min(onFocus, 3)) *
    (patterns.length > 0 ? 1.8 : 1) *
    (1 + 0.3 * Math.min(goal, 2)) *
    (shared(guidance.preferred, terms) > 0 ? 1.4 : 1) *
    (long ? 0.4 : 1) *
    (news ? 4 : 1)
  return { factor: weight, relevant: onFocus > 0 || news, patterns, learnings: followed, goal: goal > 0 }
}
