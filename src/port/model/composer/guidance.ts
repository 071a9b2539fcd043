import type { BriefLearning, DraftBrief } from '#domain/growth/drafting/draft'
import type { DraftCandidate } from './candidate.ts'
import { type Cue, cuesOf, type FoundCue, withoutCues } from './cues.ts'
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
export interface GuidingLearning {
  id: string
  kind: BriefLearning['kind']
  /** How a rationale names it. */
  excerpt: string
  cues: FoundCue[]
  terms: Set<string>
  /** Those of the terms that some of the material has: where the note names a kind of post too, they narrow it. */
  known: Set<string>
}

/** Everything in the brief that makes one candidate better than another. */
export interface Guidance {
  focus: Focus
  goal: Set<string>
  preferred: Set<string>
  patterns: Pattern[]
  learnings: GuidingLearning[]
  /** Learnings that are for a question at the end of a post, and whether some are against it. */
  asking: { wanted: GuidingLearning[]; unwanted: boolean }
  style: Style
}

/** What the guidance says of one candidate. */
export interface DraftAdvice {
  /** Multiplies the weight. */
  factor: number
  relevant: boolean
  patterns: Pattern[]
  /** Learnings that speak for it. */
  learnings: GuidingLearning[]
  /** Learnings from what happened that speak against it. */
  against: GuidingLearning[]
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

export const learningOf = ({ id, kind, note }: BriefLearning, knownTerms: ReadonlySet<string>): GuidingLearning => {
  const text = note.slice(0, LONGEST_READ)
  const terms = termsOf(withoutCues(text).replace(NOTE_WORDS, ' '))
  return {
    id,
    kind,
    excerpt: excerpt(note, EXCERPT),
    cues: cuesOf(text),
    terms,
    known: terms.intersection(knownTerms),
  }
}

const askingOf = (learnings: readonly GuidingLearning[]): Guidance['asking'] => {
  const named = learnings.flatMap((learning) => {
    const cue = learning.cues.find((found) => found.cue === 'question')
    // A note on questions about something says nothing of those at the end of other posts.
    return cue && learning.known.size === 0 ? { learning, speaksFor: (learning.kind === 'flopped') === cue.negated } : []
  })
  return {
    wanted: named.filter(({ speaksFor }) => speaksFor).map(({ learning }) => learning),
    unwanted: named.some(({ learning, speaksFor }) => !speaksFor && learning.kind !== 'hypothesis'),
  }
}

const TRIAL = 'trial'

/** What an experiment's arm tries is followed as if it had worked. */
const trialOf = ({ trial }: DraftBrief): BriefLearning[] => (trial === undefined ? [] : [{ id: TRIAL, kind: 'worked', note: trial }])

/** Whether it is a record of the workspace, and not what an experiment's arm tries. */
export const isRecord = ({ id }: GuidingLearning): boolean => id !== TRIAL

/** How a rationale names it. */
export const citedAs = (learning: GuidingLearning): string =>
  `${isRecord(learning) ? 'the learning' : "the experiment's arm"} “${learning.excerpt}”`

/** Reads patterns, learnings, goal and focus of a brief. */
export const guidanceOf = ({
  brief,
  focus,
  material,
  style,
}: {
  brief: DraftBrief
  focus: Focus
  material: Material
  style: Style
}): Guidance => {
  const patterns = style.english ? brief.profile.writing_dna.patterns.map(patternOf) : []
  const units = [...material.stories.flatMap((story) => story.units), ...material.proof, ...material.offers.map(({ unit }) => unit)]
  const knownTerms = new Set(units.flatMap(({ terms }) => [...terms]))
  const learnings = [...brief.learnings, ...trialOf(brief)].map((learning) => learningOf(learning, knownTerms))
  const [goal, preferred] = [termsOf(brief.profile.goal), termsOf(material.terms.join(' '))]
  return { focus, goal, preferred, patterns, learnings, asking: askingOf(learnings), style }
}

const termsIn = ({ units }: DraftCandidate): Set<string> => new Set(units.flatMap(({ terms }) => [...terms]))

const speaksOf = ({ terms }: GuidingLearning, text: ReadonlySet<string>): boolean => {
  const needed = Math.min(2, terms.size)
  return needed > 0 && shared(terms, text) >= needed
}

/** Whether a sentence is about something that flopped, whatever the post was. */
export const isAboutFlopped = ({ learnings }: Guidance, terms: ReadonlySet<string>): boolean =>
  learnings.some((learning) => learning.kind === 'flopped' && learning.cues.length === 0 && speaksOf(learning, terms))

/**
 * 1 when a learning speaks of this kind of post, -1 when it speaks of doing without it, half of that when it speaks of this
 * kind of post on another topic, else 0.
 */
const bearing = (learning: GuidingLearning, candidate: DraftCandidate, terms: ReadonlySet<string>): number => {
  const cue = learning.cues.find((found) => candidate.tags.has(found.cue))
  const strength = learning.known.size === 0 || shared(learning.known, terms) > 0 ? 1 : 0.5
  if (cue) return cue.negated ? -strength : strength
  return learning.cues.length === 0 && speaksOf(learning, terms) ? 1 : 0
}

/** What worked outweighs that it came in the batch already. */
const FOLLOWED = 8
const TRIED = 1.6
/** Of what flopped nothing comes as long as there is much else. */
const SPURNED = 0.0005
const LEAST_LEARNED = 0.000_001
const MOST_LEARNED = 30
/** What the batch is to be about comes all the same, rather than something else. */
const LEAST_ON_FOCUS = 0.02

interface Bearing {
  learning: GuidingLearning
  sign: number
}

/** A note on doing without something speaks for posts without it when that worked, for posts with it when that flopped. */
const speaksFor = ({ learning, sign }: Bearing): boolean => (learning.kind === 'flopped') === sign < 0

const effect = (one: Bearing): number => {
  if (one.learning.kind === 'hypothesis') return TRIED ** one.sign
  return (speaksFor(one) ? FOLLOWED : SPURNED) ** Math.abs(one.sign)
}

const learned = (guidance: Guidance, candidate: DraftCandidate, terms: ReadonlySet<string>) => {
  const bearings = guidance.learnings
    .map((learning) => ({ learning, sign: bearing(learning, candidate, terms) }))
    .filter(({ sign }) => sign !== 0)
  const factor = bearings.reduce((product, one) => product * effect(one), 1)
  const followed = bearings.filter((one) => Math.abs(one.sign) === 1 && speaksFor(one))
  const against = bearings.filter((one) => !speaksFor(one) && one.learning.kind !== 'hypothesis')
  return {
    factor: Math.min(MOST_LEARNED, factor),
    followed: followed.map(({ learning }) => learning),
    against: against.map(({ learning }) => learning),
  }
}

const LONG_SENTENCE = 18
/** With more terms than this, a single one in common is chance. */
const BROAD_FOCUS = 5

/** Weighs a candidate; relevance to the focus is compared among candidates by the caller. */
export const advise = (guidance: Guidance, candidate: DraftCandidate): DraftAdvice => {
  const terms = termsIn(candidate)
  const common = shared(guidance.focus.terms, terms)
  const onFocus = common >= (guidance.focus.terms.size > BROAD_FOCUS ? 2 : 1) ? common : 0
  const news = candidate.units.some(({ source }) => source === 'news')
  const patterns = guidance.patterns.filter(({ lead }) => lead.some((cue) => candidate.tags.has(cue)))
  const { factor, followed, against } = learned(guidance, candidate, terms)
  const goal = shared(guidance.goal, terms)
  const long = guidance.style.shortSentences && candidate.units.some(({ words }) => words > LONG_SENTENCE)
  const weight =
    Math.max(factor, onFocus > 0 || news ? LEAST_ON_FOCUS : LEAST_LEARNED) *
    (1 + 2 * Math.min(onFocus, 3)) *
    (patterns.length > 0 ? 1.8 : 1) *
    (1 + 0.3 * Math.min(goal, 2)) *
    (shared(guidance.preferred, terms) > 0 ? 1.4 : 1) *
    (long ? 0.4 : 1) *
    (news ? 4 : 1)
  return { factor: weight, relevant: onFocus > 0 || news, patterns, learnings: followed, against, goal: goal > 0 }
}
