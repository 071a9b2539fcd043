import type { Draft, DraftBrief } from '#domain/growth/drafting/draft'
import type { Phrase } from '#domain/growth/drafting/phrase'
import { type GuidingLearning, isAboutFlopped, isRecord } from '#domain/growth/learning/guidance'
import type { Style } from '#domain/growth/reading/style'
import { shared, wordLine, wordsOf } from '#domain/growth/reading/words'
import { drawIndex, pick, type Random } from '#kernel/random'
import { checkDraft, type DraftFault } from '../checks/draft.ts'
import type { Guidance } from './advice.ts'
import { cite, type DraftCandidate } from './candidate.ts'
import type { Material, Unit } from './material.ts'
import { type Earlier, earlierOf, leftBeside, optionsOf, type Weighed, weightOf } from './options.ts'
import { createGlueChoice, createGlueStock, type GlueStock, render, withinBreaks } from './render.ts'

interface BatchInput {
  brief: DraftBrief
  style: Style
  topic: string | undefined
  material: Material
  avoid: readonly Phrase[]
  weighed: readonly Weighed[]
  guidance: Guidance
  random: Random
}

interface Kept {
  draft: Draft
  candidate: DraftCandidate
  glue: string[]
  /** The words of its body alone. */
  words: string
}

/** A batch in the making, and why candidates fell out of it. */
export interface DraftedBatch {
  kept: Kept[]
  faults: Map<DraftFault['kind'], number>
}

/** What all drafts of a batch are made with. */
interface Bench extends BatchInput {
  stock: GlueStock
  earlier: readonly Earlier[]
  batch: DraftedBatch
}

/** How a rationale names a learning. */
const citedAs = (learning: GuidingLearning): string =>
  `${isRecord(learning) ? 'the learning' : "the experiment's arm"} “${learning.excerpt}”`

interface Reasons {
  item: Weighed
  followed: readonly GuidingLearning[]
}

/** What flopped is named once in a batch: every other draft keeps clear of it too. */
const clearOf = ({ heeded }: Weighed, { batch: { kept } }: Bench): string => {
  const learning = heeded.find((one) => !kept.some(({ draft }) => draft.rationale.includes(one.excerpt)))
  if (!learning) return ''
  return learning.kind === 'flopped' ? `it keeps clear of “${learning.excerpt}”, which flopped` : `it keeps to ${citedAs(learning)}`
}

const reasons = ({ item, followed }: Reasons, bench: Bench): string => {
  const { patterns, goal, relevant } = item.advice
  const { brief, topic, batch } = bench
  const { kept } = batch
  const unused = patterns.find((pattern) => !kept.some(({ draft }) => draft.rationale.includes(pattern.excerpt))) ?? patterns[0]
  const why = [
    relevant && brief.focus.trim() !== '' ? `it fits the focus${topic ? ` “${topic}”` : ''}` : '',
    unused ? `it follows your pattern “${unused.excerpt}”` : '',
    followed[0] ? `it acts on ${citedAs(followed[0])}` : '',
    clearOf(item, bench),
    goal ? 'it touches on your goal' : '',
  ].filter((reason) => reason !== '')
  const last = why.pop()
  if (last === undefined) return ''
  return ` Chosen because ${why.length > 0 ? `${why.join(', ')} and ${last}` : last}.`
}

const verbatimStories = (units: readonly Unit[], { profile }: DraftBrief): string[] => {
  const origins = new Set(units.filter(({ source }) => source === 'story').map(({ origin }) => origin))
  return [...new Set(profile.writing_dna.stories)].filter((story) => origins.has(story))
}

const CLOSING_QUESTION = 0.4
const WANTED_QUESTION = 0.9
const TRIED_QUESTION = 0.6
const SAYING = 0.12
const FITTING_SAYING = 0.5
/** So many posts pass before a phrase ends a post again. */
const RESTING = 5

/** The phrases that end none of the posts of late, and speak of nothing that flopped. */
const restedSayings = ({ candidate }: Weighed, { material, earlier, batch, guidance }: Bench): Unit[] => {
  const posts = [...batch.kept, ...earlier.slice(0, RESTING)]
  const isRested = ({ line }: Unit) => !posts.some(({ words }) => words.includes(line))
  return material.sayings.filter(
    (saying) => !candidate.units.includes(saying) && isRested(saying) && !isAboutFlopped(guidance.learnings, saying.terms),
  )
}

/** How likely a post ends on a question, if it can. */
const questionChance = ({ advice }: Weighed, { asking }: Guidance): number => {
  if (asking.unwanted) return 0
  const worked = asking.wanted.some(({ kind }) => kind !== 'hypothesis')
  if (worked || advice.patterns.some(({ endsOnQuestion }) => endsOnQuestion)) return WANTED_QUESTION
  return asking.wanted.length > 0 ? TRIED_QUESTION : CLOSING_QUESTION
}

/** The endings to try, best first; a post is fine without one. */
const endings = (item: Weighed, bench: Bench): ('question' | Unit | undefined)[] => {
  const { random, style, guidance } = bench
  const { candidate } = item
  const asks = random() < questionChance(item, guidance) && candidate.closer !== undefined && !style.noQuestions && !style.noClosingQuestion
  const free = restedSayings(item, bench)
  const fitting = free.filter((saying) => candidate.units.some(({ terms }) => shared(terms, saying.terms) > 0))
  const ends = random() < (fitting.length > 0 ? FITTING_SAYING : SAYING) && candidate.units.length > 0 && !candidate.tags.has('question')
  const saying = ends && !candidate.tags.has('product') ? pick(random, fitting.length > 0 ? fitting : free) : undefined
  if (!style.english) return [undefined]
  if (asks) return ['question', undefined]
  return saying ? [saying, undefined] : [undefined]
}

const tooWordy = (body: string, { maxWords }: Style): DraftFault[] =>
  wordsOf(body).length > maxWords ? [{ kind: 'too_long', detail: `more than the ${maxWords} words that a voice rule allows` }] : []

const faultsOf = (draft: Draft, { brief, style, batch }: Bench): DraftFault[] => {
  const kept = batch.kept.map((one) => one.draft)
  return [...checkDraft(draft, brief, kept), ...tooWordy(draft.body, style)]
}

const attempt = (item: Weighed, ending: 'question' | Unit | undefined, bench: Bench): Kept | undefined => {
  const { brief, style, random, stock, batch, guidance } = bench
  const { candidate, advice, heeded } = item
  const used = new Set(batch.kept.flatMap(({ glue }) => glue))
  const choice = createGlueChoice({ stock, random, used })
  const closing = ending === 'question' && candidate.closer ? choice.choose(candidate.closer) : undefined
  if (ending === 'question' && closing === undefined) return undefined
  const saying = typeof ending === 'object' ? ending : undefined
  const last = saying?.text ?? closing
  const rendered = render(candidate, { choice, random, style, ...(last === undefined ? {} : { ending: last }) })
  if (rendered === undefined) return undefined
  const body = withinBreaks(rendered, brief.rules.max_line_breaks)
  const { format, hook } = candidate
  const stories = verbatimStories(candidate.units, brief)
  const followed = [...new Set([...advice.followed, ...(closing === undefined ? [] : guidance.asking.wanted)])]
  const learnings = [...new Set([...followed, ...heeded])].filter(isRecord).map(({ id }) => id)
  const draft: Draft = { body, format, hook, rationale: '', stories, learnings }
  const faults = faultsOf(draft, bench)
  for (const { kind } of faults) batch.faults.set(kind, (batch.faults.get(kind) ?? 0) + 1)
  if (faults.length > 0) return undefined
  draft.rationale = candidate.why + (saying ? ` Ends on your phrase ${cite(saying)}.` : '') + reasons({ item, followed }, bench)
  const complete = saying ? { ...candidate, units: [...candidate.units, saying] } : candidate
  return { draft, candidate: complete, glue: choice.chosen, words: wordLine(body) }
}

const firstKept = (item: Weighed, bench: Bench): Kept | undefined => {
  for (const ending of endings(item, bench)) {
    const kept = attempt(item, ending, bench)
    if (kept) return kept
  }
  return undefined
}

/** A profile whose candidates fall out that often has no more for this batch. */
const MOST_TRIES = 400

/**
 * Draws candidates one by one, each time weighing what the batch and earlier posts lack, until enough
 * are kept or none is left.
 */
export const fillBatch = (input: BatchInput): DraftedBatch => {
  const { brief, random, weighed } = input
  const batch: DraftedBatch = { kept: [], faults: new Map() }
  const earlier = earlierOf(brief.recent, weighed)
  let left = optionsOf(weighed, earlier)
  if (left.length < weighed.length) batch.faults.set('repeated', weighed.length - left.length)
  const { style, topic, material, avoid } = input
  const stock = createGlueStock({
    style,
    phrases: { topic, audience: material.audience },
    avoid,
    earlier: earlier.map(({ folded }) => folded),
  })
  const bench: Bench = { ...input, stock, earlier, batch }
  let weights = left.map(weightOf)
  for (let tries = 0; tries < MOST_TRIES && batch.kept.length < brief.count; tries += 1) {
    const index = drawIndex(random, weights)
    const item = left[index]
    if (!item) break
    left.splice(index, 1)
    weights.splice(index, 1)
    const kept = firstKept(item, bench)
    if (!kept) continue
    batch.kept.push(kept)
    left = leftBeside(left, kept.candidate)
    weights = left.map(weightOf)
  }
  return batch
}
