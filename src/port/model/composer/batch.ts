import type { Draft, DraftBrief } from '#domain/growth/drafting/draft'
import { type GuidingLearning, isAboutFlopped, isRecord } from '#domain/growth/learning/guidance'
import { countShared, wordLine, wordsOf } from '#domain/growth/reading/words'
import { drawIndex, pick, type Random } from '#kernel/random'
import { checkDraft, type DraftFault } from '../checks/draft.ts'
import type { Guidance } from './advice.ts'
import { cite, type DraftCandidate } from './candidate.ts'
import { storiesOf, type Unit } from './material.ts'
import {
  candidateWeight,
  type Earlier,
  earlierOf,
  leftBeside,
  optionsOf,
  type Weighed,
} from './options.ts'
import type { Prepared } from './prepare.ts'
import {
  createGlueChoice,
  createGlueStock,
  type GlueStock,
  render,
  withinBreaks,
} from './render.ts'

interface BatchInput extends Prepared<DraftBrief> {
  topic: string | undefined
  weighed: readonly Weighed[]
  guidance: Guidance
  random: Random
}

interface Kept {
  draft: Draft
  candidate: DraftCandidate
  glue: string[]
  /** The body without punctuation. */
  words: string
}

/** A batch as it fills, and why candidates were rejected. */
export interface DraftedBatch {
  kept: Kept[]
  faults: Map<DraftFault['kind'], number>
}

/** What all drafts of a batch share. */
interface Bench extends BatchInput {
  stock: GlueStock
  earlier: readonly Earlier[]
  batch: DraftedBatch
}

/** How a rationale names a learning. */
const citedAs = (learning: GuidingLearning): string =>
  `${isRecord(learning) ? 'the learning' : "the experiment's arm"} “${learning.excerpt}”`

/** A rationale names what flopped once per batch, although every draft avoids it. */
const clearOf = ({ heeded }: Weighed, { kept }: DraftedBatch): string => {
  const learning = heeded.find(
    (one) => !kept.some(({ draft }) => draft.rationale.includes(one.excerpt)),
  )
  if (!learning) return ''
  return learning.kind === 'flopped'
    ? `it keeps clear of “${learning.excerpt}”, which flopped`
    : `it keeps to ${citedAs(learning)}`
}

const enumeration = new Intl.ListFormat('en-GB')

const reasons = (
  item: Weighed,
  followed: readonly GuidingLearning[],
  { brief, topic, batch }: Bench,
): string => {
  const { patterns, goal, relevant } = item.advice
  const unused =
    patterns.find(
      (pattern) => !batch.kept.some(({ draft }) => draft.rationale.includes(pattern.excerpt)),
    ) ?? patterns[0]
  const why = [
    relevant && brief.focus.trim() !== '' ? `it fits the focus${topic ? ` “${topic}”` : ''}` : '',
    unused ? `it follows your pattern “${unused.excerpt}”` : '',
    followed[0] ? `it acts on ${citedAs(followed[0])}` : '',
    clearOf(item, batch),
    goal ? 'it touches on your goal' : '',
  ].filter((reason) => reason !== '')
  return why.length > 0 ? ` Chosen because ${enumeration.format(why)}.` : ''
}

const CLOSING_QUESTION = 0.4
const WANTED_QUESTION = 0.9
const TRIED_QUESTION = 0.6
const SAYING = 0.12
const FITTING_SAYING = 0.5
/** How many posts pass before a phrase ends a post again. */
const RESTING = 5

/** The phrases that end no recent post and are not about something that flopped. */
const restedSayings = (
  { candidate }: Weighed,
  { material, earlier, batch, guidance }: Bench,
): Unit[] => {
  const posts = [...batch.kept, ...earlier.slice(0, RESTING)]
  const isRested = ({ line }: Unit) => !posts.some(({ words }) => words.includes(line))
  return material.sayings.filter(
    (saying) =>
      !candidate.units.includes(saying) &&
      isRested(saying) &&
      !isAboutFlopped(guidance.learnings, saying.terms),
  )
}

/** The probability that a post ends on a question, if it can. */
const questionChance = ({ advice }: Weighed, { asking }: Guidance): number => {
  if (asking.unwanted) return 0
  const worked = asking.wanted.some(({ kind }) => kind !== 'hypothesis')
  if (worked || advice.patterns.some(({ endsOnQuestion }) => endsOnQuestion)) return WANTED_QUESTION
  return asking.wanted.length > 0 ? TRIED_QUESTION : CLOSING_QUESTION
}

/** The ending to try first, a question or a phrase; a post is fine without one. */
const endingOf = (item: Weighed, bench: Bench): 'question' | Unit | undefined => {
  const { random, style, guidance } = bench
  const { candidate } = item
  const asks =
    random() < questionChance(item, guidance) &&
    candidate.closer !== undefined &&
    !style.noQuestions &&
    !style.noClosingQuestion
  const free = restedSayings(item, bench)
  const fitting = free.filter((saying) =>
    candidate.units.some(({ terms }) => countShared(terms, saying.terms) > 0),
  )
  const ends =
    random() < (fitting.length > 0 ? FITTING_SAYING : SAYING) &&
    candidate.units.length > 0 &&
    !candidate.tags.has('question')
  const saying =
    ends && !candidate.tags.has('product')
      ? pick(random, fitting.length > 0 ? fitting : free)
      : undefined
  if (!style.english) return undefined
  return asks ? 'question' : saying
}

const faultsOf = (draft: Draft, { brief, style: { maxWords }, batch }: Bench): DraftFault[] => {
  const kept = batch.kept.map((one) => one.draft)
  const faults = checkDraft(draft, brief, kept)
  const tooWordy: DraftFault = {
    kind: 'too_long',
    detail: `more than the ${maxWords} words that a voice rule allows`,
  }
  return wordsOf(draft.body).length > maxWords ? [...faults, tooWordy] : faults
}

const attempt = (
  item: Weighed,
  ending: 'question' | Unit | undefined,
  bench: Bench,
): Kept | undefined => {
  const { brief, style, random, stock, batch, guidance } = bench
  const { candidate, advice, heeded } = item
  const choice = createGlueChoice({ stock, random, used: batch.kept.flatMap(({ glue }) => glue) })
  const closing =
    ending === 'question' && candidate.closer ? choice.choose(candidate.closer) : undefined
  if (ending === 'question' && closing === undefined) return undefined
  const saying = typeof ending === 'object' ? ending : undefined
  const rendered = render(candidate, { choice, random, style, ending: saying?.text ?? closing })
  if (rendered === undefined) return undefined
  const { format, hook, units, why } = candidate
  const stories = units.filter(({ source }) => source === 'story')
  const followed = [
    ...new Set([...advice.followed, ...(closing === undefined ? [] : guidance.asking.wanted)]),
  ]
  const draft: Draft = {
    body: withinBreaks(rendered, brief.rules.max_line_breaks),
    format,
    hook,
    rationale: `${why}${saying ? ` Ends on your phrase ${cite(saying)}.` : ''}${reasons(item, followed, bench)}`,
    stories: storiesOf(stories, brief.profile),
    learnings: [...new Set([...followed, ...heeded])].filter(isRecord).map(({ id }) => id),
  }
  const faults = faultsOf(draft, bench)
  for (const { kind } of faults) batch.faults.set(kind, (batch.faults.get(kind) ?? 0) + 1)
  if (faults.length > 0) return undefined
  return {
    draft,
    candidate: { ...candidate, units: saying ? [...units, saying] : units },
    glue: choice.chosen,
    words: wordLine(draft.body),
  }
}

/** After this many tries, the profile has no more for this batch. */
const MOST_TRIES = 400

/**
 * Draws candidates by weight, favouring what the batch and earlier posts lack, until enough are
 * kept or none is left.
 */
export const fillBatch = (input: BatchInput): DraftedBatch => {
  const { brief, random, weighed, style, topic, material, avoid } = input
  const batch: DraftedBatch = { kept: [], faults: new Map() }
  const earlier = earlierOf(brief.recent, weighed)
  let left = optionsOf(weighed, earlier)
  if (left.length < weighed.length) batch.faults.set('repeated', weighed.length - left.length)
  const phrases = { topic, audience: material.audience }
  const stock = createGlueStock({
    style,
    phrases,
    avoid,
    earlier: earlier.map(({ folded }) => folded),
  })
  const bench: Bench = { ...input, stock, earlier, batch }
  let weights = left.map(candidateWeight)
  for (let tries = 0; tries < MOST_TRIES && batch.kept.length < brief.count; tries += 1) {
    const index = drawIndex(random, weights)
    const item = left[index]
    if (!item) break
    left.splice(index, 1)
    weights.splice(index, 1)
    const ending = endingOf(item, bench)
    const kept = attempt(item, ending, bench) ?? (ending && attempt(item, undefined, bench))
    if (!kept) continue
    batch.kept.push(kept)
    left = leftBeside(left, kept.candidate)
    weights = left.map(candidateWeight)
  }
  return batch
}
