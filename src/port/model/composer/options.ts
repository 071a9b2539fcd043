import type { RecentPost } from '#domain/growth/drafting/draft'
import { foldText } from '#domain/growth/drafting/phrase'
import type { GuidingLearning } from '#domain/growth/learning/guidance'
import { wordLine } from '#domain/growth/reading/words'
import type { DraftAdvice } from './advice.ts'
import type { DraftCandidate } from './candidate.ts'
import type { Unit } from './material.ts'

export interface Weighed {
  candidate: DraftCandidate
  advice: DraftAdvice
  /** Learnings that count against other candidates but not against this one. */
  heeded: readonly GuidingLearning[]
  /** The weight before any draft of the batch is chosen. */
  weight: number
}

/** An earlier post with the sentences of the profile that it used. */
export interface Earlier {
  hook: string
  folded: string
  /** The post without punctuation. */
  words: string
  lines: ReadonlySet<string>
}

/** Phrases may return; shared stories and proof make two posts the same. */
const ownMaterial = (units: readonly Unit[]): Unit[] =>
  units.filter(({ source }) => source !== 'use')

/**
 * Longer than most posts; only the beginning of a longer text is searched for the profile's
 * sentences.
 */
const SEARCHED = 1_000

/** Finds the candidates' sentences in earlier posts. */
export const earlierOf = (
  recent: readonly RecentPost[],
  weighed: readonly Weighed[],
): Earlier[] => {
  const lines = [
    ...new Set(
      weighed.flatMap(({ candidate }) => ownMaterial(candidate.units).map(({ line }) => line)),
    ),
  ]
  return recent.map(({ body, hook }) => {
    const beginning = body.slice(0, SEARCHED)
    const words = wordLine(beginning)
    return {
      hook,
      folded: foldText(beginning),
      words,
      lines: new Set(lines.filter((line) => words.includes(line))),
    }
  })
}

/** A candidate with what its weight depends on as the batch fills. */
export interface Option extends Weighed {
  origins: ReadonlySet<string>
  /** How many of its sentences are not phrases. */
  ownMaterial: number
  /** How many earlier posts contain one of its sentences, on average. */
  posted: number
  /** How many earlier posts open the same way. */
  opened: number
  /** What it has in common with posts of this batch. */
  taken: { hook: number; format: number; origin: number; asking: number }
}

/** How often each key occurs. */
const tally = (keys: readonly string[]): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(keys, (key) => key)].map(([key, all]) => [key, all.length]))

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length)

const sameSentences = (own: readonly Unit[], lines: ReadonlySet<string>): boolean =>
  own.length > 0 &&
  own.every(({ line }) => lines.has(line)) &&
  new Set(own.map(({ line }) => line)).size === lines.size

/** The same sentences again, or the same story opened the same way. */
const repeatsEarlier = ({ hook, units }: DraftCandidate, earlier: readonly Earlier[]): boolean => {
  const own = ownMaterial(units)
  return earlier.some(
    (post) =>
      sameSentences(own, post.lines) ||
      (post.hook === hook &&
        own.some(({ source, line }) => source === 'story' && post.lines.has(line))),
  )
}

/** The candidates that repeat no earlier post. */
export const optionsOf = (weighed: readonly Weighed[], earlier: readonly Earlier[]): Option[] => {
  const hooks = tally(earlier.map(({ hook }) => hook))
  const lines = tally(earlier.flatMap((post) => [...post.lines]))
  return weighed
    .filter(({ candidate }) => !repeatsEarlier(candidate, earlier))
    .map((one) => ({
      ...one,
      origins: new Set(one.candidate.units.map(({ origin }) => origin)),
      ownMaterial: ownMaterial(one.candidate.units).length,
      posted: mean(one.candidate.units.map(({ line }) => lines.get(line) ?? 0)),
      opened: hooks.get(one.candidate.hook) ?? 0,
      taken: { hook: 0, format: 0, origin: 0, asking: 0 },
    }))
}

const MOST_OPENED = 12

/** Candidates that are fresh in the batch and in the workspace weigh more. */
export const candidateWeight = ({ weight, posted, opened, taken }: Option): number => {
  const fresh =
    0.03 ** taken.hook * 0.15 ** taken.format * 0.12 ** taken.origin * 0.25 ** taken.asking
  return weight * (fresh * 0.5 ** posted * 0.85 ** Math.min(MOST_OPENED, opened))
}

/** Two posts of one batch share at most half of their sentences, and no phrase. */
const crowds = (
  { candidate, ownMaterial: own }: Option,
  lines: ReadonlySet<string>,
  theirs: number,
): boolean => {
  const common = candidate.units.filter(({ line }) => lines.has(line))
  const smaller = Math.min(own, theirs)
  return (
    common.some(({ source }) => source === 'use') || (smaller > 0 && common.length * 2 > smaller)
  )
}

/** The options that remain once `kept` is in the batch, updated with what they share with it. */
export const leftBeside = (options: readonly Option[], kept: DraftCandidate): Option[] => {
  const lines = new Set(kept.units.map(({ line }) => line))
  const origins = new Set(kept.units.map(({ origin }) => origin))
  const theirs = ownMaterial(kept.units).length
  const left = options.filter((option) => !crowds(option, lines, theirs))
  for (const { candidate, origins: own, taken } of left) {
    if (candidate.hook === kept.hook) taken.hook += 1
    if (candidate.format === kept.format) taken.format += 1
    if (!own.isDisjointFrom(origins)) taken.origin += 1
    if (candidate.units.length === 0 && kept.units.length === 0) taken.asking += 1
  }
  return left
}
