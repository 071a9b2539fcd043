import type { DraftBrief } from '#domain/growth/drafting/draft'
import {
  askingOf,
  type GuidingLearning,
  guidingLearnings,
  type Learned,
  learnedOf,
} from '#domain/growth/learning/guidance'
import type { Focus } from '#domain/growth/reading/focus'
import { type Pattern, readPattern } from '#domain/growth/reading/patterns'
import type { Style } from '#domain/growth/reading/style'
import { countShared, termsOf } from '#domain/growth/reading/words'
import type { DraftCandidate } from './candidate.ts'
import type { Prepared } from './prepare.ts'

/** Everything in the brief that makes one candidate better than another. */
export interface Guidance {
  focus: Focus
  goal: Set<string>
  preferred: Set<string>
  patterns: Pattern[]
  learnings: GuidingLearning[]
  asking: ReturnType<typeof askingOf>
  style: Style
}

/** What the guidance says about one candidate; `factor` multiplies its weight. */
export interface DraftAdvice extends Learned {
  relevant: boolean
  patterns: Pattern[]
  goal: boolean
}

/** Reads patterns, learnings, goal and focus of a brief. */
export const guidanceOf = ({ brief, focus, material, style }: Prepared<DraftBrief>): Guidance => {
  const { writing_dna, goal } = brief.profile
  const units = [
    ...material.stories.flatMap((story) => story.units),
    ...material.proof,
    ...material.offers.map(({ unit }) => unit),
  ]
  const learnings = guidingLearnings(brief, new Set(units.flatMap(({ terms }) => [...terms])))
  const patterns = style.english ? writing_dna.patterns.map(readPattern) : []
  const preferred = termsOf(material.terms.join(' '))
  return {
    focus,
    goal: termsOf(goal),
    preferred,
    patterns,
    learnings,
    asking: askingOf(learnings),
    style,
  }
}

const LONG_SENTENCE = 18
/** If the focus has more terms than this, one in common is chance. */
const BROAD_FOCUS = 5
const LEAST_LEARNED = 0.000_001
/** The focus outweighs what was learned against it. */
const LEAST_ON_FOCUS = 0.02

/** Weighs a candidate. The caller compares relevance among candidates. */
export const advise = (
  { focus, patterns, goal, preferred, learnings, style }: Guidance,
  { units, tags }: DraftCandidate,
): DraftAdvice => {
  const terms = new Set(units.flatMap((unit) => [...unit.terms]))
  const common = countShared(focus.terms, terms)
  const onFocus = common >= (focus.terms.size > BROAD_FOCUS ? 2 : 1) ? common : 0
  const news = units.some(({ source }) => source === 'news')
  const relevant = onFocus > 0 || news
  const followed = patterns.filter(({ lead }) => lead.some((cue) => tags.has(cue)))
  const learned = learnedOf({ tags, terms }, learnings)
  const touched = countShared(goal, terms)
  const long = style.shortSentences && units.some(({ words }) => words > LONG_SENTENCE)
  const factor =
    Math.max(learned.factor, relevant ? LEAST_ON_FOCUS : LEAST_LEARNED) *
    (1 + 2 * Math.min(onFocus, 3)) *
    (followed.length > 0 ? 1.8 : 1) *
    (1 + 0.3 * Math.min(touched, 2)) *
    (countShared(preferred, terms) > 0 ? 1.4 : 1) *
    (long ? 0.4 : 1) *
    (news ? 4 : 1)
  return { ...learned, factor, relevant, patterns: followed, goal: touched > 0 }
}
