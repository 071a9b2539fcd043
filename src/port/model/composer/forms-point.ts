import type { HookKey } from '#domain/growth/drafting/hooks'
import { type Block, candidate, cite, type DraftForm, type DraftScope, quoteOf } from './candidate.ts'
import type { Cue } from './cues.ts'
import type { GlueSlot } from './glue.ts'
import type { Story, Unit } from './material.ts'
import { sampleOf } from './random.ts'
import { INVITES, isHeadline, type SentenceRole } from './roles.ts'
import { shared } from './text.ts'

const prose = (units: readonly Unit[]): Block => ({ kind: 'prose', units })
const glued = (slot: GlueSlot): Block => ({ kind: 'glue', slot })

/** Sentences that may stand on their own, with the story they come from. */
const points = ({ material }: DraftScope): { unit: Unit; story: Story | undefined }[] => [
  ...material.stories.flatMap((story) => story.units.map((unit) => ({ unit, story }))),
  ...material.proof.map((unit) => ({ unit, story: undefined })),
]
const own = (unit: Unit): boolean => unit.standalone && unit.complete
const kindOf = (unit: Unit): string => (unit.source === 'proof' ? 'proof' : 'story')

/** The lesson or rule of a story before the story. */
export const lessonFirst: DraftForm = (scope) =>
  points(scope).flatMap(({ unit: lead, story }) => {
    const unit = lead.bare === undefined ? lead : { ...lead, text: lead.bare }
    const rest = story?.units.slice(0, story.units.indexOf(lead)) ?? []
    const source = scope.fits([unit, ...rest], 44) ? rest : rest.slice(0, rest.length > 2 ? 0 : 1)
    const rule = unit.roles.has('rule')
    const leads = lead.bare !== undefined || (own(unit) && (rule || unit.roles.has('lesson')))
    if (!leads || source.length === 0 || !scope.fits([unit, ...source], 44)) return []
    const shape = { format: 'lesson', units: [unit, ...source], lead: unit, cues: ['lesson', 'story'] as Cue[], weight: 1.2 }
    const why = `Puts the ${rule ? 'rule' : 'lesson'} of your story ${cite(unit)} before the story itself.`
    const behind = glued(rule ? 'rule-source' : 'lesson-source')
    const plain = candidate({
      ...shape,
      hook: rule ? 'rule-then-why' : 'point-then-story',
      blocks: [prose([unit]), behind, prose(source)],
      why,
    })
    if (rule) return [plain]
    return [candidate({ ...shape, hook: 'lesson-first', blocks: [glued('lesson-lead'), prose([unit]), prose(source)], why }), plain]
  })

/** What stands in the place of something else. */
const CONTRAST = /\b(?:not because|rather than|instead of|(?:is|are|was|were)(?: not|n['’]t)\b)/i

/** An opinion, with whatever comes after it in the story. */
export const disagree: DraftForm = (scope) =>
  points(scope).flatMap(({ unit, story }) => {
    if (!own(unit) || !unit.roles.has('stance')) return []
    const following = story?.units.slice(story.units.indexOf(unit) + 1) ?? []
    const rest = following.length > 0 && scope.fits([unit, ...following], 34) ? following : []
    const units = [unit, ...rest]
    if (!scope.fits(units, 34)) return []
    const why = `Leads with an opinion taken from your ${kindOf(unit)} ${cite(unit)}.`
    const shape = { format: 'contrarian', units, lead: unit, cues: ['contrarian'] as Cue[], weight: 1.1, why }
    return [
      candidate({ ...shape, hook: 'disagree', blocks: [glued('disagree-lead'), prose([unit]), ...(rest.length ? [prose(rest)] : [])] }),
      candidate({
        ...shape,
        hook: CONTRAST.test(unit.text) ? 'this-not-that' : 'flat-claim',
        blocks: [prose([unit]), ...(rest.length ? [prose(rest)] : [])],
        closer: 'close-stance',
      }),
    ]
  })

const TELLING: readonly SentenceRole[] = ['number', 'lesson', 'stance', 'failure', 'rule', 'quote']
/** What a sentence from the middle of a story needs to say something without it. */
const POINT_MAKING: readonly SentenceRole[] = ['lesson', 'stance', 'rule', 'quote']
const LEAST_WORDS = 6

const closerOf = (unit: Unit): GlueSlot | undefined => {
  if (unit.roles.has('lesson') || unit.roles.has('rule')) return 'close-lesson'
  return unit.roles.has('stance') ? 'close-stance' : undefined
}

/** By what the sentence is, the most telling first. */
const LINES: readonly (readonly [SentenceRole, HookKey])[] = [
  ['rule', 'one-rule'],
  ['lesson', 'one-lesson'],
  ['stance', 'one-opinion'],
  ['number', 'one-number'],
]

const lineHook = (unit: Unit): HookKey => {
  if (unit.roles.has('quote')) return 'quote-alone'
  if (unit.source === 'proof') return 'proof-alone'
  return LINES.find(([role]) => unit.roles.has(role))?.[1] ?? 'one-line'
}

/** One sentence that carries a post alone. */
export const oneSentence: DraftForm = (scope) =>
  points(scope).flatMap(({ unit, story }) => {
    const quote = unit.roles.has('quote')
    const telling = TELLING.some((role) => unit.roles.has(role)) || (story?.units.length === 1 && unit.words > 9)
    if (scope.style.english && (!(own(unit) || (quote && unit.standalone)) || !telling || unit.words < LEAST_WORDS)) return []
    if (!scope.style.english && !unit.standalone) return []
    if (unit.source === 'news' || unit.roles.has('before') || !scope.fits([unit], 0)) return []
    const opens = story === undefined || story.units[0] === unit
    const makesPoint = POINT_MAKING.some((role) => unit.roles.has(role))
    const closer = closerOf(unit)
    return [
      candidate({
        hook: lineHook(unit),
        format: quote ? 'quote' : 'one-liner',
        blocks: [prose([unit])],
        units: [unit],
        lead: unit,
        cues: quote ? ['quote', 'short'] : ['short'],
        ...(closer ? { closer } : {}),
        weight:
          (unit.words < 9 ? 0.25 : 0.7) *
          (opens || makesPoint ? 1 : 0.3) *
          (scope.style.english || story === undefined || story.units.length === 1 ? 1 : 0.2),
        why: `Lets one sentence of your ${kindOf(unit)} stand alone: ${quoteOf(unit)}.`,
      }),
    ]
  })

/** Each is held against every story. */
const MOST_LEADING_PROOF = 30

/** A piece of proof, then the story that speaks of the same thing. */
export const proofFirst: DraftForm = (scope) =>
  sampleOf(scope.random, scope.material.proof, { most: MOST_LEADING_PROOF }).flatMap((proof) =>
    scope.material.stories.flatMap((story) => {
      const related = story.units.some(({ terms }) => shared(terms, proof.terms) >= 2)
      const excerpt = [3, 2, 1].map((length) => story.units.slice(0, length)).find((units) => scope.fits([proof, ...units], 30))
      if (!related || !excerpt || !proof.standalone || story.source === 'news') return []
      return [
        candidate({
          hook: 'proof-lead',
          format: 'proof',
          blocks: [prose([proof]), glued('context'), prose(excerpt)],
          units: [proof, ...excerpt],
          lead: proof,
          cues: ['proof', 'story'],
          weight: 1.1,
          why: `Leads with your proof ${cite(proof)} and follows with the story on the same subject, ${cite(story)}.`,
        }),
      ]
    }),
  )

/** A saying of the person's over a story of theirs that it speaks of: over any other it would read as a non sequitur. */
export const ownPhrase: DraftForm = (scope) =>
  scope.material.sayings
    .filter(({ text }) => !INVITES.test(text))
    .flatMap((saying) =>
      scope.material.stories
        .filter(({ source, units }) => source === 'story' && units[0]?.complete && scope.fits([saying, ...units], 4))
        .filter(({ units }) => units.some(({ terms }) => shared(terms, saying.terms) > 0))
        .map((story) =>
          candidate({
            hook: 'own-phrase',
            format: 'maxim',
            blocks: [prose([saying]), prose(story.units)],
            units: [saying, ...story.units],
            lead: saying,
            cues: ['story'],
            weight: 1,
            why: `Puts your phrase ${cite(saying)} over your story ${cite(story)}.`,
          }),
        ),
    )

/** A story that is only a heading becomes an invitation to ask. */
export const askAbout: DraftForm = (scope) =>
  points(scope).flatMap(({ unit }) => {
    if (!isHeadline(unit.text) || !scope.fits([unit], 30)) return []
    const slots = { I: 'ask-me', we: 'ask-us' } as const
    const slot = scope.material.person ? slots[scope.material.person] : 'ask-any'
    return [
      candidate({
        hook: 'ask-about',
        format: 'invitation',
        blocks: [{ kind: 'led', slot, phrase: unit.text }],
        units: [unit],
        cues: ['question', 'story', 'short'],
        weight: 0.7,
        why: `Your story ${cite(unit)} is a heading so far, so the post invites people to ask for it; write the story out to have it told.`,
      }),
    ]
  })

/** A question that the person has asked, with what follows it. */
export const ownQuestion: DraftForm = (scope) => {
  if (scope.style.noQuestions) return []
  const asked = [...points(scope), ...scope.material.sayings.map((unit) => ({ unit, story: undefined }))]
  return asked.flatMap(({ unit, story }) => {
    if (!/\?["”’']?$/.test(unit.text) || !unit.standalone || unit.source === 'news' || !scope.fits([unit], 0)) return []
    const following = story?.units.slice(story.units.indexOf(unit) + 1) ?? []
    const rest = scope.fits([unit, ...following], 4) ? following : []
    return [
      candidate({
        hook: 'own-question',
        format: 'question',
        blocks: [prose([unit]), ...(rest.length > 0 ? [prose(rest)] : [])],
        units: [unit, ...rest],
        lead: unit,
        cues: ['question', ...(rest.length > 0 ? (['story'] as const) : (['short'] as const))],
        weight: rest.length > 0 ? 0.9 : 0.5,
        why: `Opens on a question of yours, ${quoteOf(unit)}.`,
      }),
    ]
  })
}
