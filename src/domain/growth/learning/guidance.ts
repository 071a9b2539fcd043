/**
 * How learnings affect a text that could be written: what worked is followed, what flopped is
 * avoided.
 */
import type { BriefLearning, DraftBrief } from '../drafting/draft.ts'
import { type Cue, cuesOf, type FoundCue, LONGEST_READ, withoutCues } from '../reading/cues.ts'
import { countShared, excerpt, termsOf } from '../reading/words.ts'

/** A learning with the cues and terms of its note. */
export interface GuidingLearning {
  id: string
  kind: BriefLearning['kind']
  /** Its name in a rationale. */
  excerpt: string
  cues: FoundCue[]
  terms: ReadonlySet<string>
  /**
   * Terms that also occur in the material. If the note names a kind of post too, they narrow it.
   */
  known: ReadonlySet<string>
}

/** A text that could be written: its kinds of post and its terms. */
export interface Prospect {
  tags: ReadonlySet<Cue>
  terms: ReadonlySet<string>
}

const EXCERPT = 60

const NOTE_WORDS =
  /\b(?:work(?:s|ed)?|flop(?:s|ped)?|perform\w*|better|best|worse|worst|well|badly|likes?|repl(?:y|ies)|impressions?|engagement|reactions?|reach|views?|clicks?|opens?|opening|opened|openers?|average|double[ds]?|tripled?|more|less|fewer|than|got|get|hooks?|format|drafts?|tweets?|mention\w*|topics?|about|audience|readers?)\b/gi

const TRIAL = 'trial'

/**
 * The learnings of a brief. An experiment's note is followed as if it had worked. `material`: the
 * terms of the material.
 */
export const guidingLearnings = (
  { learnings, trial }: Pick<DraftBrief, 'learnings' | 'trial'>,
  material: ReadonlySet<string>,
): GuidingLearning[] => {
  const tried: BriefLearning[] =
    trial === undefined ? [] : [{ id: TRIAL, kind: 'worked', note: trial }]
  return [...learnings, ...tried].map(({ id, kind, note }) => {
    const text = note.slice(0, LONGEST_READ)
    const terms = termsOf(withoutCues(text).replace(NOTE_WORDS, ' '))
    return {
      id,
      kind,
      excerpt: excerpt(note, EXCERPT),
      cues: cuesOf(text),
      terms,
      known: terms.intersection(material),
    }
  })
}

/** Whether it is a learning of the workspace, not an experiment's note. */
export const isRecord = ({ id }: GuidingLearning): boolean => id !== TRIAL

const speaksOf = ({ terms }: GuidingLearning, text: ReadonlySet<string>): boolean => {
  const needed = Math.min(2, terms.size)
  return needed > 0 && countShared(terms, text) >= needed
}

/** Whether a sentence is about a subject that flopped, whatever the kind of post. */
export const isAboutFlopped = (
  learnings: readonly GuidingLearning[],
  terms: ReadonlySet<string>,
): boolean =>
  learnings.some(
    (learning) =>
      learning.kind === 'flopped' && learning.cues.length === 0 && speaksOf(learning, terms),
  )

/**
 * 1 if a learning is about this kind of post, -1 if it is about doing without it, half of that if
 * it is about this kind on another topic, otherwise 0.
 */
export const bearingOn = ({ tags, terms }: Prospect, learning: GuidingLearning): number => {
  const cue = learning.cues.find((found) => tags.has(found.cue))
  const strength = learning.known.size === 0 || countShared(learning.known, terms) > 0 ? 1 : 0.5
  if (cue) return cue.negated ? -strength : strength
  return learning.cues.length === 0 && speaksOf(learning, terms) ? 1 : 0
}

/** A learning that worked outweighs a hook used earlier in the batch. */
const FOLLOWED = 8
const TRIED = 1.6
/** Almost rules out what flopped while there is enough else. */
const SPURNED = 0.0005
const MOST_LEARNED = 30

interface Bearing {
  learning: GuidingLearning
  sign: number
}

/**
 * A note on doing without something supports posts without it if that worked, and posts with it if
 * that flopped.
 */
const speaksFor = ({ learning, sign }: Bearing): boolean =>
  (learning.kind === 'flopped') === sign < 0

const effect = (one: Bearing): number => {
  if (one.learning.kind === 'hypothesis') return TRIED ** one.sign
  return (speaksFor(one) ? FOLLOWED : SPURNED) ** Math.abs(one.sign)
}

export interface Learned {
  /** The factor for the text's weight. */
  factor: number
  /** Learnings in favour of it. */
  followed: GuidingLearning[]
  /** Learnings of the workspace against it. */
  against: GuidingLearning[]
}

export const learnedOf = (prospect: Prospect, learnings: readonly GuidingLearning[]): Learned => {
  const bearings = learnings
    .map((learning) => ({ learning, sign: bearingOn(prospect, learning) }))
    .filter(({ sign }) => sign !== 0)
  const factor = bearings.reduce((product, one) => product * effect(one), 1)
  const followed = bearings.filter((one) => Math.abs(one.sign) === 1 && speaksFor(one))
  const against = bearings.filter((one) => !speaksFor(one) && one.learning.kind !== 'hypothesis')
  const learningsOf = (some: Bearing[]) => some.map(({ learning }) => learning)
  return {
    factor: Math.min(MOST_LEARNED, factor),
    followed: learningsOf(followed),
    against: learningsOf(against),
  }
}

/** Learnings in favour of a question at the end of a post, and whether others are against it. */
export const askingOf = (
  learnings: readonly GuidingLearning[],
): { wanted: GuidingLearning[]; unwanted: boolean } => {
  const named = learnings.flatMap((learning) => {
    const cue = learning.cues.find((found) => found.cue === 'question')
    // A note on questions about one topic does not apply to the end of other posts.
    return cue && learning.known.size === 0 ? [{ learning, sign: cue.negated ? -1 : 1 }] : []
  })
  return {
    wanted: named.filter(speaksFor).map(({ learning }) => learning),
    unwanted: named.some((one) => !speaksFor(one) && one.learning.kind !== 'hypothesis'),
  }
}
