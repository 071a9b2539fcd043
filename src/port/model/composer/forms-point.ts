import { INVITES, isHeadline, type SentenceRole } from '#domain/growth/reading/roles'
import { countShared } from '#domain/growth/reading/words'
import { sampleOf } from '#kernel/random'
import { candidate, cite, type DraftForm, type DraftScope, quoteOf } from './candidate.ts'
import type { GlueSlot } from './glue.ts'
import type { Story, Unit } from './material.ts'
import type { PostHook } from './openings.ts'

/** A sentence that may stand alone, with the story it comes from. */
interface Point {
  unit: Unit
  story?: Story
}

const points = ({ material }: DraftScope): Point[] => [
  ...material.stories.flatMap((story) => story.units.map((unit) => ({ unit, story }))),
  ...material.proof.map((unit) => ({ unit })),
]
const standsAlone = (unit: Unit): boolean => unit.standalone && unit.complete
const kindOf = (unit: Unit): string => (unit.source === 'proof' ? 'proof' : 'story')
const unitsBefore = ({ unit, story }: Point): Unit[] =>
  story?.units.slice(0, story.units.indexOf(unit)) ?? []
const unitsAfter = ({ unit, story }: Point): Unit[] =>
  story?.units.slice(story.units.indexOf(unit) + 1) ?? []

/** The lesson or rule of a story before the story. */
export const lessonFirst: DraftForm = (scope) =>
  points(scope).flatMap((point) => {
    const { bare } = point.unit
    const unit = bare === undefined ? point.unit : { ...point.unit, text: bare }
    const rest = unitsBefore(point)
    const source = scope.fits([unit, ...rest], 44) ? rest : rest.slice(0, rest.length > 2 ? 0 : 1)
    const rule = unit.roles.has('rule')
    const leads = bare !== undefined || (standsAlone(unit) && (rule || unit.roles.has('lesson')))
    if (!leads || source.length === 0 || !scope.fits([unit, ...source], 44)) return []
    const why = `Puts the ${rule ? 'rule' : 'lesson'} of your story ${cite(unit)} before the story itself.`
    if (rule) return [candidate('rule-then-why', [[unit], 'rule-source', source], why)]
    return [
      candidate('lesson-first', ['lesson-lead', [unit], source], why),
      candidate('point-then-story', [[unit], 'lesson-source', source], why),
    ]
  })

/** Words that set one thing against another. */
const CONTRAST = /\b(?:not because|rather than|instead of|(?:is|are|was|were)(?: not|n['’]t)\b)/i

/** An opinion, with whatever comes after it in the story. */
export const disagree: DraftForm = (scope) =>
  points(scope).flatMap((point) => {
    const { unit } = point
    if (!standsAlone(unit) || !unit.roles.has('stance')) return []
    const following = unitsAfter(point)
    const rest = scope.fits([unit, ...following], 34) ? following : []
    if (!scope.fits([unit, ...rest], 34)) return []
    const why = `Leads with an opinion taken from your ${kindOf(unit)} ${cite(unit)}.`
    return [
      candidate('disagree', ['disagree-lead', [unit], rest], why),
      candidate(CONTRAST.test(unit.text) ? 'this-not-that' : 'flat-claim', [[unit], rest], why),
    ]
  })

const TELLING: readonly SentenceRole[] = ['number', 'lesson', 'stance', 'failure', 'rule', 'quote']
/** Roles that let a sentence from the middle of a story stand without it. */
const POINT_MAKING: readonly SentenceRole[] = ['lesson', 'stance', 'rule', 'quote']
const LEAST_WORDS = 6

/**
 * By the role of the sentence, the most telling first: the opening, and the question that may
 * follow.
 */
const LINES: readonly (readonly [SentenceRole, PostHook, GlueSlot | undefined])[] = [
  ['rule', 'one-rule', 'close-lesson'],
  ['lesson', 'one-lesson', 'close-lesson'],
  ['stance', 'one-opinion', 'close-stance'],
  ['number', 'one-number', undefined],
]

const lineOf = ({ roles, source }: Unit): { hook: PostHook; closer: GlueSlot | undefined } => {
  const [, hook, closer] = LINES.find(([role]) => roles.has(role)) ?? [
    '',
    'one-line' as const,
    undefined,
  ]
  if (roles.has('quote')) return { hook: 'quote-alone', closer }
  return { hook: source === 'proof' ? 'proof-alone' : hook, closer }
}

/** One sentence that carries a post alone. */
export const oneSentence: DraftForm = (scope) =>
  points(scope).flatMap(({ unit, story }) => {
    const { english } = scope.style
    const telling =
      TELLING.some((role) => unit.roles.has(role)) || (story?.units.length === 1 && unit.words > 9)
    const carries =
      unit.standalone &&
      (unit.complete || unit.roles.has('quote')) &&
      telling &&
      unit.words >= LEAST_WORDS
    if (english ? !carries : !unit.standalone) return []
    if (unit.source === 'news' || unit.roles.has('before') || !scope.fits([unit], 0)) return []
    const opens = story === undefined || story.units[0] === unit
    const makesPoint = POINT_MAKING.some((role) => unit.roles.has(role))
    const { hook, closer } = lineOf(unit)
    const weight =
      (unit.words < 9 ? 0.25 : 0.7) *
      (opens || makesPoint ? 1 : 0.3) *
      (english || story === undefined || story.units.length === 1 ? 1 : 0.2)
    const why = `Lets one sentence of your ${kindOf(unit)} stand alone: ${quoteOf(unit)}.`
    return [candidate(hook, [[unit]], why, { closer, weight })]
  })

/** Each is held against every story. */
const MOST_LEADING_PROOF = 30

/** A piece of proof, then the story that speaks of the same thing. */
export const proofFirst: DraftForm = (scope) =>
  sampleOf(scope.random, scope.material.proof, { most: MOST_LEADING_PROOF }).flatMap((proof) =>
    scope.material.stories.flatMap((story) => {
      const related = story.units.some(({ terms }) => countShared(terms, proof.terms) >= 2)
      const excerpt = [3, 2, 1]
        .map((length) => story.units.slice(0, length))
        .find((units) => scope.fits([proof, ...units], 30))
      if (!related || !excerpt || !proof.standalone || story.source === 'news') return []
      const why = `Leads with your proof ${cite(proof)} and follows with the story on the same subject, ${cite(story)}.`
      return [candidate('proof-lead', [[proof], 'context', excerpt], why)]
    }),
  )

/**
 * One of the person's sayings above a story on the same subject; above any other it would be a non
 * sequitur.
 */
export const ownPhrase: DraftForm = ({ material, fits }) =>
  material.sayings
    .filter(({ text }) => !INVITES.test(text))
    .flatMap((saying) =>
      material.stories
        .filter(
          ({ source, units }) =>
            source === 'story' && units[0]?.complete && fits([saying, ...units], 4),
        )
        .filter(({ units }) => units.some(({ terms }) => countShared(terms, saying.terms) > 0))
        .map((story) =>
          candidate(
            'own-phrase',
            [[saying], story.units],
            `Puts your phrase ${cite(saying)} over your story ${cite(story)}.`,
          ),
        ),
    )

/** A story that is only a heading becomes an invitation to ask. */
export const askAbout: DraftForm = (scope) => {
  const slot = ({ I: 'ask-me', we: 'ask-us', nobody: 'ask-any' } as const)[
    scope.material.person ?? 'nobody'
  ]
  return points(scope)
    .filter(({ unit }) => isHeadline(unit.text) && scope.fits([unit], 30))
    .map(({ unit }) => {
      const why = `Your story ${cite(unit)} is a heading so far, so the post invites people to ask for it; write the story out to have it told.`
      return candidate('ask-about', [{ kind: 'led', slot, units: [unit] }], why)
    })
}

/** A question that the person has asked, with what follows it. */
export const ownQuestion: DraftForm = (scope) => {
  if (scope.style.noQuestions) return []
  return [...points(scope), ...scope.material.sayings.map((unit) => ({ unit }))].flatMap(
    (point) => {
      const { unit } = point
      if (
        !/\?["”’']?$/.test(unit.text) ||
        !unit.standalone ||
        unit.source === 'news' ||
        !scope.fits([unit], 0)
      )
        return []
      const following = unitsAfter(point)
      const rest = scope.fits([unit, ...following], 4) ? following : []
      const goesOn = rest.length > 0
      const why = `Opens on a question of yours, ${quoteOf(unit)}.`
      return [
        candidate('own-question', [[unit], rest], why, {
          cues: ['question', goesOn ? 'story' : 'short'],
          weight: goesOn ? 0.9 : 0.5,
        }),
      ]
    },
  )
}
