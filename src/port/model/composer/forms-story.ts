import type { SentenceRole } from '#domain/growth/reading/roles'
import { countShared } from '#domain/growth/reading/words'
import {
  candidate,
  cite,
  type DraftCandidate,
  type DraftForm,
  type DraftScope,
  quoteOf,
} from './candidate.ts'
import type { Story, Unit } from './material.ts'
import { openings, type PostHook } from './openings.ts'

/** By the role of the first sentence, the most telling first. */
const OPENINGS: readonly (readonly [SentenceRole, PostHook])[] = [
  ['quote', 'quote-open'],
  ['failure', 'admission'],
  ['before', 'back-then'],
  ['time', 'time-stamp'],
  ['number', 'number-first'],
  ['rule', 'rule-open'],
  ['stance', 'opinion-open'],
  ['turn', 'turning-point'],
]

/** The longest run of sentences from `start` that fits. */
const runFrom = ({ units }: Story, start: number, { fits }: DraftScope): Unit[] => {
  let end = start
  while (end < units.length && fits(units.slice(start, end + 1), 0)) end += 1
  return units.slice(start, end)
}

const opens = ({ standalone, complete }: Unit): boolean => standalone && complete

const inOrder = (units: readonly Unit[], weight: number): DraftCandidate => {
  const lead = units[0]!
  const news = lead.source === 'news'
  const hook = news ? 'news' : (OPENINGS.find(([role]) => lead.roles.has(role))?.[1] ?? 'cold-open')
  const why = `Tells ${news ? 'the news in the focus' : `your story ${cite(lead)}`} in its own order and words.`
  const closer =
    !news && units.some(({ roles }) => roles.has('failure')) ? 'close-story' : undefined
  return candidate(hook, [units], why, {
    cues: units.length > 3 ? ['story', 'scene', 'long'] : ['story', 'scene'],
    closer,
    weight,
  })
}

/** A whole story with a piece of proof on the same subject under it. */
const withProof = (
  units: readonly Unit[],
  { material, style, fits }: DraftScope,
): DraftCandidate[] => {
  const related = (proof: Unit) =>
    units.some(({ terms }) => countShared(terms, proof.terms) >= 2) && fits([...units, proof], 4)
  const proof = style.english ? material.proof.find(related) : undefined
  if (!proof) return []
  const why = `Tells your story ${cite(units[0]!)} and sets your proof ${cite(proof)} under it.`
  const supported = {
    format: 'story-with-proof',
    blocks: [units, [proof]],
    units: [...units, proof],
    closer: undefined,
    why,
  }
  return [{ ...inOrder(units, 1.1), ...supported }]
}

/** A story from its beginning; a long one also from a later sentence that can open a post. */
export const storyInOrder: DraftForm = (scope) =>
  scope.material.stories.flatMap((story) => {
    const opening = runFrom(story, 0, scope)
    if (opening.length < 2) return []
    const isWhole = opening.length === story.units.length
    const later = story.units.findIndex(
      (unit, index) => index >= Math.max(2, opening.length - 1) && opens(unit),
    )
    const second = later < 0 ? [] : runFrom(story, later, scope)
    return [
      inOrder(opening, isWhole ? 1.5 : 1),
      ...(second.length >= 2 ? [inOrder(second, 0.9)] : []),
      ...(isWhole ? withProof(opening, scope) : []),
    ]
  })

/**
 * Coherent parts of a story: without its end, or from a later sentence on. They fill in once the
 * whole stories are told.
 */
export const storyExcerpt: DraftForm = (scope) =>
  scope.material.stories.flatMap((story) => {
    if (story.source === 'news' || story.units.length < 3) return []
    const later = story.units.flatMap((unit, index) =>
      index > 0 && opens(unit) ? [runFrom(story, index, scope)] : [],
    )
    return [runFrom(story, 0, scope).slice(0, story.units.length - 1), ...later]
      .filter((units) => units.length > 1)
      .map((units) => {
        const lead = units[0]!
        const why = `Tells a part of your story ${cite(lead)}, from ${quoteOf(lead)} on.`
        return candidate(
          lead.roles.has('turn') ? 'turning-point' : 'excerpt',
          [units],
          why,
          openings.excerpt,
        )
      })
  })

/** The outcome first, then the way back to the beginning. */
export const endingFirst: DraftForm = ({ material, fits }) =>
  material.stories.flatMap(({ units, source }) => {
    const [first, second] = units
    const last = units.at(-1)
    if (!first || !second || !last || source === 'news' || !opens(last) || last.roles.has('rule'))
      return []
    const beginning =
      units.length > 3 && fits([last, first, second], 30) ? [first, second] : [first]
    if (!fits([last, ...beginning], 30)) return []
    const hook = last.roles.has('number') ? 'number-ending' : 'ending-first'
    const why = `Opens on the outcome of your story ${cite(first)} and goes back to how it began.`
    return [
      candidate(hook, [[last], 'back-to-start', beginning], why, {
        weight: units.length > 2 ? 1.2 : 0.9,
      }),
    ]
  })

const LONGEST_SITUATION = 3
const ACTS: readonly SentenceRole[] = ['turn', 'after', 'lesson', 'rule']

/**
 * The sentences up to where the person acts; empty if they hold no trouble, or nothing follows
 * them.
 */
const troubleOf = ({ units }: Story): Unit[] => {
  const acts = units.findIndex(
    ({ roles }, index) => index > 0 && ACTS.some((role) => roles.has(role)),
  )
  const situation = units.slice(0, Math.min(acts < 0 ? units.length - 1 : acts, LONGEST_SITUATION))
  return situation.some(({ roles }) => roles.has('failure')) ? situation : []
}

/** A situation whose outcome is withheld, and a question to the reader. */
export const openSituation: DraftForm = ({ material, style, fits }) =>
  material.stories.flatMap((story) => {
    const trouble = troubleOf(story)
    const [lead] = trouble
    if (!lead || story.source === 'news' || style.noQuestions || !fits(trouble, 40)) return []
    const why = `Stops your story ${cite(lead)} at the trouble and asks the reader for the next step; the outcome can follow as a reply.`
    return [
      candidate('your-call', ['ask-decision', trouble], why),
      ...(style.noClosingQuestion ? [] : [candidate('open-ending', [trouble, 'ask-after'], why)]),
    ]
  })

/** What was, and what is now. */
export const thenAndNow: DraftForm = ({ material, fits }) =>
  material.stories.flatMap(({ units }) => {
    const was = units.findIndex(({ roles, standalone }) => roles.has('before') && standalone)
    const is = units.findIndex(({ roles }, index) => index > was && roles.has('after'))
    const [before, after] = [units[was], units[is]]
    if (!before || !after || !fits([before, after], 4) || !(after.standalone || is === was + 1))
      return []
    return [
      candidate(
        'then-now',
        [[before], [after]],
        `Sets before and after from your story ${cite(before)} against each other.`,
      ),
    ]
  })

/** First and last sentence of a longer story. */
export const shortVersion: DraftForm = ({ material, fits }) =>
  material.stories.flatMap(({ units, source }) => {
    const last = units.at(-1)
    const [first] = units
    if (
      !first ||
      !last ||
      units.length < 3 ||
      source === 'news' ||
      !opens(last) ||
      !fits([first, last], 24)
    )
      return []
    const linked = countShared(first.terms, last.terms) > 0
    if (!linked && last.roles.has('after')) return []
    const why = `Keeps only the beginning and the end of your story ${cite(first)}.`
    return [
      candidate('short-version', ['short-lead', [first], [last]], why, {
        weight: linked ? 0.9 : 0.4,
      }),
    ]
  })
