import type { Draft, DraftBrief } from '#domain/draft'
import { checkDraft, type DraftFault, foldText } from '../check-draft.ts'
import { type Candidate, cite } from './candidate.ts'
import type { Advice } from './guidance.ts'
import type { Material, Unit } from './material.ts'
import { drawIndex, pick, type Random } from './random.ts'
import { createGlueChoice, render } from './render.ts'
import type { Style } from './style.ts'
import { excerpt, shared, wordLine, wordsOf } from './text.ts'

export interface Weighed {
  candidate: Candidate
  advice: Advice
  /** The weight before anything of this batch is known. */
  weight: number
}

interface BatchInput {
  brief: DraftBrief
  style: Style
  topic: string | undefined
  material: Material
  weighed: readonly Weighed[]
  random: Random
  signal: AbortSignal
}

/** An earlier post with the sentences of the profile that it used. */
interface Earlier {
  hook: string
  lines: Set<string>
}

interface Kept {
  draft: Draft
  candidate: Candidate
  glue: string[]
}

/** A batch in the making, and why candidates fell out of it. */
export interface Batch {
  kept: Kept[]
  faults: Map<DraftFault['kind'], number>
}

/** Phrases may come back; it is stories and proof that make two posts the same. */
const told = (units: readonly Unit[]): Unit[] => units.filter(({ source }) => source !== 'use')

const earlierPosts = ({ brief, weighed }: BatchInput): Earlier[] => {
  const lines = new Set(weighed.flatMap(({ candidate }) => told(candidate.units).map(({ line }) => line)))
  return brief.recent.map(({ body, hook }) => {
    const text = wordLine(body)
    return { hook, lines: new Set([...lines].filter((line) => text.includes(line))) }
  })
}

const sameSentences = (units: readonly Unit[], lines: ReadonlySet<string>): boolean =>
  units.length > 0 && new Set(units.map(({ line }) => line)).size === lines.size && units.every(({ line }) => lines.has(line))

/** The same sentences again, or the same story opened the same way. */
const repeatsEarlier = ({ hook, units }: Candidate, earlier: readonly Earlier[]): boolean =>
  earlier.some(
    (post) =>
      sameSentences(told(units), post.lines) ||
      (post.hook === hook && units.some(({ source, line }) => source === 'story' && post.lines.has(line))),
  )

/** Two posts of one batch share half of their sentences at most, and no phrase. */
const crowds = ({ units }: Candidate, kept: readonly Kept[]): boolean =>
  kept.some(({ candidate: other }) => {
    const common = units.filter(({ line }) => other.units.some((unit) => unit.line === line))
    const smaller = Math.min(told(units).length, told(other.units).length)
    return common.some(({ source }) => source === 'use') || (smaller > 0 && common.length * 2 > smaller)
  })

const count = <T>(items: readonly T[], test: (item: T) => boolean): number => items.filter(test).length

/** What is fresh in the batch and in the workspace weighs more. */
const freshness = ({ hook, format, units }: Candidate, kept: readonly Kept[], earlier: readonly Earlier[]): number => {
  const origins = new Set(units.map(({ origin }) => origin))
  const reused = count(kept, ({ candidate }) => candidate.units.some(({ origin }) => origins.has(origin)))
  const posted = units.reduce((sum, { line }) => sum + count(earlier, ({ lines }) => lines.has(line)), 0) / Math.max(1, units.length)
  const asked = units.length === 0 ? count(kept, ({ candidate }) => candidate.units.length === 0) : 0
  return (
    0.03 ** count(kept, ({ candidate }) => candidate.hook === hook) *
    0.15 ** count(kept, ({ candidate }) => candidate.format === format) *
    0.12 ** reused *
    0.25 ** asked *
    0.5 ** posted *
    0.85 **
      Math.min(
        12,
        count(earlier, (post) => post.hook === hook),
      )
  )
}

const reasons = (
  { patterns, learnings, goal, relevant }: Advice,
  { brief, topic, kept }: { brief: DraftBrief; topic: string | undefined; kept: readonly Kept[] },
): string => {
  const unused = patterns.find(({ text }) => !kept.some(({ draft }) => draft.rationale.includes(excerpt(text, 60)))) ?? patterns[0]
  const why = [
    relevant && brief.focus.trim() !== '' ? `it fits the focus${topic ? ` “${topic}”` : ''}` : '',
    unused ? `it follows your pattern “${excerpt(unused.text, 60)}”` : '',
    learnings[0] ? `it acts on the learning “${excerpt(learnings[0].note, 60)}”` : '',
    goal ? 'it touches on your goal' : '',
  ].filter((reason) => reason !== '')
  const last = why.pop()
  if (last === undefined) return ''
  return ` Chosen because ${why.length > 0 ? `${why.join(', ')} and ${last}` : last}.`
}

const verbatimStories = (units: readonly Unit[], { profile }: DraftBrief): string[] =>
  profile.writing_dna.stories.filter(
    (story, index, all) => all.indexOf(story) === index && units.some(({ source, origin }) => source === 'story' && origin === story),
  )

const CLOSING_QUESTION = 0.4
const SAYING = 0.12
const FITTING_SAYING = 0.5
/** So many posts pass before a phrase ends a post again. */
const RESTING = 5

/** The endings to try, best first; a post is fine without one. */
const endings = ({ candidate, advice }: Weighed, input: BatchInput, batch: Batch): ('question' | Unit | undefined)[] => {
  const { random, style, material } = input
  const likely = advice.patterns.some(({ endsOnQuestion }) => endsOnQuestion) ? 0.9 : CLOSING_QUESTION
  const asks = random() < likely && candidate.closer !== undefined && !style.noQuestions && !style.noClosingQuestion
  const bodies = [...batch.kept.map(({ draft }) => draft), ...input.brief.recent.slice(0, RESTING)].map(({ body }) => wordLine(body))
  const free = material.sayings.filter((saying) => !candidate.units.includes(saying) && !bodies.some((body) => body.includes(saying.line)))
  const fitting = free.filter((saying) => candidate.units.some(({ terms }) => shared(terms, saying.terms) > 0))
  const ends = random() < (fitting.length > 0 ? FITTING_SAYING : SAYING) && candidate.units.length > 0 && !candidate.tags.has('question')
  const saying = ends ? pick(random, fitting.length > 0 ? fitting : free) : undefined
  if (!style.english) return [undefined]
  if (asks) return ['question', undefined]
  return saying ? [saying, undefined] : [undefined]
}

const tooWordy = (body: string, { maxWords }: Style): DraftFault[] =>
  wordsOf(body).length > maxWords ? [{ kind: 'too_long', detail: `more than the ${maxWords} words that a voice rule allows` }] : []

const attempt = (item: Weighed, ending: 'question' | Unit | undefined, input: BatchInput, batch: Batch): Kept | undefined => {
  const { brief, style, random, topic, material } = input
  const { candidate, advice } = item
  const choice = createGlueChoice({
    style,
    random,
    phrases: { topic, audience: material.audience },
    avoid: brief.profile.writing_dna.avoid,
    used: new Set(batch.kept.flatMap(({ glue }) => glue)),
    earlier: brief.recent.map(({ body }) => foldText(body)),
  })
  const closing = ending === 'question' && candidate.closer ? choice.choose(candidate.closer) : undefined
  if (ending === 'question' && closing === undefined) return undefined
  const last = typeof ending === 'object' ? ending.text : closing
  const body = render(candidate, { choice, random, style, ...(last === undefined ? {} : { ending: last }) })
  if (body === undefined) return undefined
  const rationale =
    candidate.why +
    (typeof ending === 'object' ? ` Ends on your phrase ${cite(ending)}.` : '') +
    reasons(advice, { brief, topic, kept: batch.kept })
  const draft: Draft = {
    body,
    format: candidate.format,
    hook: candidate.hook,
    rationale,
    stories: verbatimStories(candidate.units, brief),
    learnings: advice.learnings.map(({ id }) => id),
  }
  const faults = [
    ...checkDraft(
      draft,
      brief,
      batch.kept.map((kept) => kept.draft),
    ),
    ...tooWordy(body, style),
  ]
  for (const { kind } of faults) batch.faults.set(kind, (batch.faults.get(kind) ?? 0) + 1)
  const used = typeof ending === 'object' ? { ...candidate, units: [...candidate.units, ending] } : candidate
  return faults.length === 0 ? { draft, candidate: used, glue: choice.chosen } : undefined
}

const keepOne = (item: Weighed, input: BatchInput, batch: Batch): void => {
  for (const ending of endings(item, input, batch)) {
    const kept = attempt(item, ending, input, batch)
    if (kept) {
      batch.kept.push(kept)
      return
    }
  }
}

/** Draws candidates one by one, each time weighing what the batch and earlier posts lack, until enough are kept or none is left. */
export const fillBatch = (input: BatchInput): Batch => {
  const batch: Batch = { kept: [], faults: new Map() }
  const earlier = earlierPosts(input)
  const left = input.weighed.filter(({ candidate }) => !repeatsEarlier(candidate, earlier))
  if (left.length < input.weighed.length) batch.faults.set('repeated', input.weighed.length - left.length)
  while (batch.kept.length < input.brief.count) {
    input.signal.throwIfAborted()
    const weights = left.map(({ candidate, weight }) =>
      crowds(candidate, batch.kept) ? 0 : weight * freshness(candidate, batch.kept, earlier),
    )
    const index = drawIndex(input.random, weights)
    const [item] = index < 0 ? [] : left.splice(index, 1)
    if (!item) break
    keepOne(item, input, batch)
  }
  return batch
}
