import type { HookKey } from '#domain/growth/drafting/hooks'
import { type Block, candidate, cite, type DraftCandidate, type DraftForm, type DraftScope, quoteOf } from './candidate.ts'
import type { Story, Unit } from './material.ts'
import type { SentenceRole } from './roles.ts'
import { shared } from './text.ts'

const prose = (units: readonly Unit[]): Block => ({ kind: 'prose', units })

/** By what the first sentence is, the most telling first. */
const OPENINGS: readonly (readonly [SentenceRole, HookKey])[] = [
  ['quote', 'quote-open'],
  ['failure', 'admission'],
  ['before', 'back-then'],
  ['time', 'time-stamp'],
  ['number', 'number-first'],
  ['rule', 'rule-open'],
  ['stance', 'opinion-open'],
  ['turn', 'turning-point'],
]

/** The name of the opening that a story has when its own sentence opens it. */
const openingOf = (lead: Unit): HookKey => {
  if (lead.source === 'news') return 'news'
  return OPENINGS.find(([role]) => lead.roles.has(role))?.[1] ?? 'cold-open'
}

/** The longest run of sentences from `start` that fits. */
const runFrom = ({ units }: Story, start: number, { fits }: DraftScope): Unit[] => {
  let end = start
  while (end < units.length && fits(units.slice(start, end + 1), 0)) end += 1
  return units.slice(start, end)
}

const proofFor = (units: readonly Unit[], scope: DraftScope): Unit | undefined =>
  scope.material.proof.find((proof) => units.some(({ terms }) => shared(terms, proof.terms) >= 2) && scope.fits([...units, proof], 4))

const inOrder = (units: readonly Unit[], { closer, weight }: { closer?: boolean; weight: number }): DraftCandidate => {
  const [lead] = units as [Unit]
  return candidate({
    hook: openingOf(lead),
    format: lead.source === 'news' ? 'announcement' : 'story',
    blocks: [prose(units)],
    units,
    lead,
    cues: units.length > 3 ? ['story', 'scene', 'long'] : ['story', 'scene'],
    ...(closer === false || !units.some(({ roles }) => roles.has('failure')) ? {} : { closer: 'close-story' as const }),
    weight,
    why: `Tells ${lead.source === 'news' ? 'the news in the focus' : `your story ${cite(lead)}`} in its own order and words.`,
  })
}

/** A story from its beginning, and a long one also from a later sentence that can open. */
export const storyInOrder: DraftForm = (scope) =>
  scope.material.stories.flatMap((story) => {
    const opening = runFrom(story, 0, scope)
    if (opening.length < 2) return []
    const whole = opening.length === story.units.length
    const built = [inOrder(opening, { weight: whole ? 1.5 : 1, closer: story.source !== 'news' })]
    const later = story.units.findIndex((unit, index) => index >= Math.max(2, opening.length - 1) && unit.standalone && unit.complete)
    const second = later < 0 ? [] : runFrom(story, later, scope)
    if (second.length >= 2) built.push(inOrder(second, { weight: 0.9 }))
    const proof = scope.style.english && whole ? proofFor(opening, scope) : undefined
    if (proof === undefined) return built
    const [lead] = opening as [Unit]
    const why = `Tells your story ${cite(lead)} and sets your proof ${cite(proof)} under it.`
    const supported = {
      format: 'story-with-proof',
      blocks: [prose(opening), prose([proof])],
      units: [...opening, proof],
      closer: undefined,
      why,
    }
    return [...built, { ...inOrder(opening, { weight: 1.1 }), ...supported }]
  })

/** Parts of a story that hold together: without its end, or from a later sentence on. They fill in when whole stories are told. */
export const storyExcerpt: DraftForm = (scope) =>
  scope.material.stories.flatMap((story) => {
    if (story.source === 'news' || story.units.length < 3) return []
    const later = story.units.flatMap((unit, index) =>
      index > 0 && unit.standalone && unit.complete ? [runFrom(story, index, scope)] : [],
    )
    const parts = [runFrom(story, 0, scope).slice(0, story.units.length - 1), ...later]
    return parts
      .filter((units) => units.length > 1)
      .map((units) => {
        const [lead] = units as [Unit]
        return candidate({
          hook: lead.roles.has('turn') ? 'turning-point' : 'excerpt',
          format: 'excerpt',
          blocks: [prose(units)],
          units,
          lead,
          cues: ['story'],
          weight: 0.1,
          why: `Tells a part of your story ${cite(lead)}, from ${quoteOf(lead)} on.`,
        })
      })
  })

/** The outcome first, then the way back to the beginning. */
export const endingFirst: DraftForm = (scope) =>
  scope.material.stories.flatMap(({ units, source }) => {
    const last = units.at(-1)
    const [first, second] = units
    if (!first || !last || units.length < 2 || source === 'news' || !last.standalone || !last.complete || last.roles.has('rule')) return []
    const wide = second && units.length > 3 && scope.fits([last, first, second], 30) ? [first, second] : [first]
    if (!scope.fits([last, ...wide], 30)) return []
    return [
      candidate({
        hook: last.roles.has('number') ? 'number-ending' : 'ending-first',
        format: 'reversal',
        blocks: [prose([last]), { kind: 'glue', slot: 'back-to-start' }, prose(wide)],
        units: [last, ...wide],
        lead: last,
        cues: ['story', 'ending'],
        weight: units.length > 2 ? 1.2 : 0.9,
        why: `Opens on the outcome of your story ${cite(first)} and goes back to how it began.`,
      }),
    ]
  })

const LONGEST_SITUATION = 3

/** The sentences up to where the person acts; empty when there is no trouble in them, or nothing held back after them. */
const troubleOf = ({ units }: Story): Unit[] => {
  const acts = units.findIndex(
    ({ roles }, index) => index > 0 && (roles.has('turn') || roles.has('after') || roles.has('lesson') || roles.has('rule')),
  )
  const situation = units.slice(0, Math.min(acts < 0 ? units.length - 1 : acts, LONGEST_SITUATION))
  return situation.some(({ roles }) => roles.has('failure')) ? situation : []
}

/** A situation whose outcome is held back, and a question to the reader. */
export const openSituation: DraftForm = (scope) =>
  scope.material.stories.flatMap((story) => {
    const trouble = troubleOf(story)
    const [lead] = trouble
    if (!lead || story.source === 'news' || scope.style.noQuestions || !scope.fits(trouble, 40)) return []
    const shape = { format: 'question', units: trouble, lead, cues: ['question', 'failure'] as ('question' | 'failure')[] }
    const why = `Stops your story ${cite(lead)} at the trouble and asks the reader for the next step; the outcome can follow as a reply.`
    return [
      candidate({ ...shape, hook: 'your-call', blocks: [{ kind: 'glue', slot: 'ask-decision' }, prose(trouble)], weight: 0.8, why }),
      ...(scope.style.noClosingQuestion
        ? []
        : [candidate({ ...shape, hook: 'open-ending', blocks: [prose(trouble), { kind: 'glue', slot: 'ask-after' }], why })]),
    ]
  })

/** What was, and what is now. */
export const thenAndNow: DraftForm = (scope) =>
  scope.material.stories.flatMap(({ units }) => {
    const before = units.find(({ roles, standalone }) => roles.has('before') && standalone)
    const after = units.find((unit) => unit.roles.has('after') && unit !== before && units.indexOf(unit) > units.indexOf(before ?? unit))
    if (!before || !after || !scope.fits([before, after], 4)) return []
    if (!after.standalone && units.indexOf(after) !== units.indexOf(before) + 1) return []
    return [
      candidate({
        hook: 'then-now',
        format: 'before-after',
        blocks: [prose([before]), prose([after])],
        units: [before, after],
        lead: before,
        cues: ['before-after', 'story'],
        closer: 'close-story',
        weight: 1.3,
        why: `Sets before and after from your story ${cite(before)} against each other.`,
      }),
    ]
  })

/** First and last sentence of a longer story. */
export const shortVersion: DraftForm = (scope) =>
  scope.material.stories.flatMap(({ units, source }) => {
    const last = units.at(-1)
    const [first] = units
    if (!first || !last || units.length < 3 || source === 'news' || !last.standalone || !last.complete || !scope.fits([first, last], 24))
      return []
    const linked = shared(first.terms, last.terms) > 0
    if (!linked && last.roles.has('after')) return []
    return [
      candidate({
        hook: 'short-version',
        format: 'summary',
        blocks: [{ kind: 'glue', slot: 'short-lead' }, prose([first]), prose([last])],
        units: [first, last],
        lead: first,
        cues: ['story', 'short'],
        weight: linked ? 0.9 : 0.4,
        why: `Keeps only the beginning and the end of your story ${cite(first)}.`,
      }),
    ]
  })
