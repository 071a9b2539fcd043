import type { ArticleBrief } from '#domain/growth/drafting/draft'
import { bearingOn, type GuidingLearning, guidingLearnings } from '#domain/growth/learning/guidance'
import { type Cue, cuesOf, type FoundCue, LONGEST_READ } from '#domain/growth/reading/cues'
import type { Focus } from '#domain/growth/reading/focus'
import type { SentenceRole } from '#domain/growth/reading/roles'
import { countShared, termsOf, wordLine } from '#domain/growth/reading/words'
import type { Random } from '#kernel/random'
import { countWords } from '../checks/article.ts'
import type { Unit } from './material.ts'
import type { Prepared } from './prepare.ts'

/** The person's sentences that stay together in an article: a story, a piece of proof, a phrase. */
export interface MaterialPiece {
  kind: Unit['source']
  units: readonly Unit[]
  words: number
  terms: ReadonlySet<string>
  tags: ReadonlySet<Cue>
  /** It is about the subject. */
  onTopic: boolean
  /** Ids of the learnings that favour it. */
  learnings: readonly string[]
  /** Higher comes first. */
  score: number
}

interface Wanted {
  focus: Focus
  /** The terms of the person's goal. */
  goal: ReadonlySet<string>
  /** What the person's patterns want openings to be. */
  cues: readonly FoundCue[]
  learnings: readonly GuidingLearning[]
  random: Random
}

/** The roles of sentences that make a piece of a kind. */
const ROLES: Partial<Record<Cue, readonly SentenceRole[]>> = {
  number: ['number'],
  proof: ['number'],
  ending: ['number', 'after'],
  failure: ['failure'],
  lesson: ['lesson', 'rule'],
  quote: ['quote'],
  'before-after': ['before', 'after', 'turn'],
  contrarian: ['stance'],
}

const tagsOf = (units: readonly Unit[]): Set<Cue> => {
  const cues = Object.keys(ROLES) as Cue[]
  const tags = new Set(
    cues.filter((cue) => ROLES[cue]!.some((role) => units.some(({ roles }) => roles.has(role)))),
  )
  const { source } = units[0]!
  return source === 'story' || source === 'proof' ? tags.add(source) : tags
}

/** How many of the cues a piece matches. */
const countMatches = ({ tags }: Pick<MaterialPiece, 'tags'>, cues: readonly FoundCue[]): number =>
  cues.filter(({ cue, negated }) => !negated && tags.has(cue)).length

const WORTH = { worked: 3, hypothesis: 1, flopped: -3 } as const
const MOST_WORTH = 4

const pieceOf = (
  units: readonly Unit[],
  { focus, goal, cues, learnings, random }: Wanted,
): MaterialPiece => {
  const terms = new Set(units.flatMap((unit) => [...unit.terms]))
  const tags = tagsOf(units)
  const kind = units[0]!.source
  const common = countShared(terms, focus.terms)
  const news = kind === 'news' ? 10 : 0
  const worths = learnings.map((learning) => ({
    id: learning.id,
    worth: WORTH[learning.kind] * bearingOn({ tags, terms }, learning),
  }))
  const learned = worths.reduce((sum, { worth }) => sum + worth, 0)
  const fit =
    3 * Math.min(common, 4) +
    Math.min(countMatches({ tags }, cues), 2) +
    Math.min(countShared(terms, goal), 2)
  return {
    kind,
    units,
    terms,
    tags,
    learnings: worths.filter(({ worth }) => worth > 0).map(({ id }) => id),
    words: countWords(units.map(({ text }) => text).join(' ')),
    onTopic: common > 0 || news > 0,
    score: news + fit + Math.max(-MOST_WORTH, Math.min(MOST_WORTH, learned)) + random(),
  }
}

/** A piece without sentences already used, and without those that lean on them. */
const unsaid = (units: readonly Unit[], said: Set<string>): Unit[] => {
  const left: Unit[] = []
  let broken = false
  for (const unit of units) {
    broken = said.has(unit.line) || (broken && !unit.standalone)
    if (broken) continue
    said.add(unit.line)
    left.push(unit)
  }
  return left
}

/** Everything an article can be made of, best first. No sentence comes twice, nor the title's. */
export const piecesOf = (
  { brief, focus, material }: Prepared<ArticleBrief>,
  title: string,
  random: Random,
): MaterialPiece[] => {
  const { goal, writing_dna } = brief.profile
  const cues = writing_dna.patterns.flatMap((pattern) => cuesOf(pattern.slice(0, LONGEST_READ)))
  const wanted: Wanted = {
    focus,
    goal: termsOf(goal),
    cues,
    learnings: guidingLearnings(brief, new Set()),
    random,
  }
  const said = new Set([wordLine(title)])
  // A story that is only a heading does not tell anything.
  const whole = material.stories.filter(({ units }) => units.some(({ complete }) => complete))
  const single = [
    ...material.proof,
    ...material.offers.map(({ unit }) => unit),
    ...material.sayings,
  ]
  return [...whole.map(({ units }) => units), ...single.map((unit) => [unit])]
    .map((units) => unsaid(units, said))
    .filter((units) => units.length > 0)
    .map((units) => pieceOf(units, wanted))
    .sort((one, other) => other.score - one.score)
}

/** One of the person's headings. */
export interface Heading {
  text: string
  terms: ReadonlySet<string>
  cues: readonly FoundCue[]
}

export const headingOf = (text: string): Heading => ({
  text,
  terms: termsOf(text),
  cues: cuesOf(text),
})

/** How well a piece fits under a heading. */
export const fitOf = ({ terms, cues }: Heading, piece: MaterialPiece): number =>
  4 * countShared(terms, piece.terms) + 2 * countMatches(piece, cues)
