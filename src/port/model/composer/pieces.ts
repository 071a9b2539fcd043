import type { BriefLearning } from '#domain/growth/drafting/draft'
import { countWords } from '../checks/article.ts'
import { cuesOf, type FoundCue } from './cues.ts'
import type { Focus } from './focus.ts'
import { type GuidingLearning, learningOf } from './guidance.ts'
import type { Material, Unit } from './material.ts'
import type { Random } from './random.ts'
import type { SentenceRole } from './roles.ts'
import { shared, termsOf, wordLine } from './text.ts'

/** Sentences of the person's that stay together in an article: a story, a proof, a phrase. */
export interface MaterialPiece {
  kind: Unit['source']
  units: readonly Unit[]
  words: number
  terms: ReadonlySet<string>
  roles: ReadonlySet<SentenceRole>
  /** It speaks of the subject. */
  onTopic: boolean
  /** Ids of the learnings that speak for it. */
  learnings: readonly string[]
  /** Higher comes first. */
  score: number
}

interface Wanted {
  focus: Focus
  /** The terms of the person's goal. */
  goal: ReadonlySet<string>
  /** What the person's patterns ask an opening to be. */
  cues: readonly FoundCue[]
  learnings: readonly GuidingLearning[]
  random: Random
}

const ROLES: Partial<Record<FoundCue['cue'], readonly SentenceRole[]>> = {
  number: ['number'],
  proof: ['number'],
  ending: ['number', 'after'],
  failure: ['failure'],
  lesson: ['lesson', 'rule'],
  quote: ['quote'],
  'before-after': ['before', 'after', 'turn'],
  contrarian: ['stance'],
}

/** How many of the cues a piece answers. */
const answered = ({ kind, roles }: Pick<MaterialPiece, 'kind' | 'roles'>, cues: readonly FoundCue[]): number =>
  cues.filter(
    ({ cue, negated }) =>
      !negated &&
      ((ROLES[cue]?.some((role) => roles.has(role)) ?? false) ||
        (cue === 'story' && kind === 'story') ||
        (cue === 'proof' && kind === 'proof')),
  ).length

const LEARNED = { worked: 3, hypothesis: 1, flopped: -3 } as const

/** 1 when a learning speaks of such a piece, -1 when of doing without it, else 0. */
const bearing = ({ cues, terms }: GuidingLearning, piece: Pick<MaterialPiece, 'kind' | 'roles' | 'terms'>): number => {
  const cue = cues.find((found) => answered(piece, [{ ...found, negated: false }]) > 0)
  if (cue) return cue.negated ? -1 : 1
  const needed = Math.min(2, terms.size)
  return cues.length === 0 && needed > 0 && shared(terms, piece.terms) >= needed ? 1 : 0
}

const learned = (learnings: readonly GuidingLearning[], piece: Pick<MaterialPiece, 'kind' | 'roles' | 'terms'>) => {
  const worth = learnings.map((learning) => ({ id: learning.id, amount: LEARNED[learning.kind] * bearing(learning, piece) }))
  const amount = worth.reduce((sum, one) => sum + one.amount, 0)
  return { amount: Math.max(-4, Math.min(4, amount)), ids: worth.filter((one) => one.amount > 0).map(({ id }) => id) }
}

const pieceOf = (units: readonly Unit[], { focus, goal, cues, learnings, random }: Wanted): MaterialPiece => {
  const terms = new Set(units.flatMap((unit) => [...unit.terms]))
  const roles = new Set(units.flatMap((unit) => [...unit.roles]))
  const kind = units[0]!.source
  const common = shared(terms, focus.terms)
  const news = kind === 'news' ? 10 : 0
  const lessons = learned(learnings, { kind, roles, terms })
  const fit = 3 * Math.min(common, 4) + Math.min(answered({ kind, roles }, cues), 2) + Math.min(shared(terms, goal), 2)
  return {
    ...{ kind, units, terms, roles, learnings: lessons.ids },
    words: countWords(units.map(({ text }) => text).join(' ')),
    onTopic: common > 0 || news > 0,
    score: news + fit + lessons.amount + random(),
  }
}

/** What a piece is without the sentences that stand elsewhere already; what leaned on one of them goes too. */
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

const NOTHING: ReadonlySet<string> = new Set()
/** So much of a pattern is read. */
const LONGEST_READ = 400

interface Notes {
  title: string
  patterns: readonly string[]
  /** The active learnings. */
  notes: readonly BriefLearning[]
}

/** All that an article can be made of, the most fitting first; no sentence comes twice, nor the title's. */
export const piecesOf = (
  material: Material,
  { title, patterns, notes, ...wanted }: Omit<Wanted, 'cues' | 'learnings'> & Notes,
): MaterialPiece[] => {
  const cues = patterns.flatMap((pattern) => cuesOf(pattern.slice(0, LONGEST_READ)))
  const learnings = notes.map((note) => learningOf(note, NOTHING))
  const said = new Set([wordLine(title)])
  // A story of a heading alone tells nothing.
  const whole = material.stories.filter(({ units }) => units.some(({ complete }) => complete))
  const offered = material.offers.map(({ unit }) => unit)
  return [...whole.map(({ units }) => units), ...[...material.proof, ...offered, ...material.sayings].map((unit) => [unit])]
    .map((units) => unsaid(units, said))
    .filter((units) => units.length > 0)
    .map((units) => pieceOf(units, { ...wanted, cues, learnings }))
    .sort((one, other) => other.score - one.score)
}

/** A heading of the person's, read. */
export interface Heading {
  text: string
  terms: ReadonlySet<string>
  cues: readonly FoundCue[]
}

export const headingOf = (text: string): Heading => ({ text, terms: termsOf(text), cues: cuesOf(text) })

/** How well a piece stands under a heading. */
export const fitOf = ({ terms, cues }: Heading, piece: MaterialPiece): number => 4 * shared(terms, piece.terms) + 2 * answered(piece, cues)
