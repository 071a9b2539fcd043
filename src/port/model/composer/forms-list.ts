import { type Block, candidate, cite, citeAll, type DraftForm, type DraftScope, quoteOf } from './candidate.ts'
import type { Story, Unit } from './material.ts'
import { fewOf, pick, sampleOf, shuffled } from './random.ts'
import { INVITES, type SentenceRole } from './roles.ts'
import { shared } from './text.ts'

const prose = (units: readonly Unit[]): Block => ({ kind: 'prose', units })
/** A bullet of one sentence goes without its full stop. */
const bulletOf = (unit: Unit): string => (/[.!?]\s/.test(unit.text) ? unit.text : unit.text.replace(/\.$/, ''))
const bullets = (units: readonly Unit[]): Block => ({ kind: 'bullets', entries: units.map(bulletOf) })

/** Two to four of `units` around each one, in random company: every unit gets its lists without trying all sets. */
const groups = (units: readonly Unit[], { random, fits }: DraftScope): Unit[][] =>
  units.flatMap((unit) =>
    [2, 3, 3, 4].flatMap((size) => {
      const company = fewOf(
        random,
        units.filter((other) => other !== unit),
        size - 1,
      )
      const group = shuffled(random, [unit, ...company])
      return group.length === size && fits(group, 40) ? [group] : []
    }),
  )

/** Several pieces of proof under one heading. */
export const receipts: DraftForm = (scope) => {
  const proof = scope.material.proof.filter(({ standalone, roles }) => standalone && !roles.has('quote'))
  if (scope.style.noLists) return []
  return groups(proof, scope).map((group) => {
    const numbers = group.every(({ roles }) => roles.has('number'))
    return candidate({
      hook: numbers ? 'in-numbers' : 'receipts',
      format: 'list',
      blocks: scope.style.english
        ? [{ kind: 'glue', slot: numbers ? 'list-numbers' : 'list-plain' }, bullets(group)]
        : [{ kind: 'lines', units: group }],
      units: group,
      cues: numbers ? ['list', 'number'] : ['list'],
      closer: 'close-proof',
      weight: group.length === 2 ? 0.25 : 0.5,
      why: `Lists ${group.length} pieces of your proof: ${citeAll(group)}.`,
    })
  })
}

const MOST_UNDER_PHRASE = 30

/** A saying of the person's over a few pieces of proof. */
export const phraseOverProof: DraftForm = (scope) => {
  const usable = scope.material.proof.filter(({ standalone, roles }) => standalone && !roles.has('quote'))
  const proof = sampleOf(scope.random, usable, { most: MOST_UNDER_PHRASE })
  if (scope.style.noLists) return []
  return scope.material.sayings
    .filter(({ complete, roles, text }) => complete && !roles.has('rule') && !INVITES.test(text))
    .flatMap((saying) =>
      groups(proof, scope)
        .filter((group) => group.length > 1 && scope.fits([saying, ...group], 20))
        .slice(0, 8)
        .map((group) =>
          candidate({
            hook: 'phrase-over-proof',
            format: 'list',
            blocks: [prose([saying]), bullets(group)],
            units: [saying, ...group],
            lead: saying,
            cues: ['list'],
            weight: group.some(({ terms }) => shared(terms, saying.terms) > 0) ? 0.4 : 0.06,
            why: `Puts your phrase ${cite(saying)} over ${group.length} pieces of your proof: ${citeAll(group)}.`,
          }),
        ),
    )
}

/** A sentence of the person's that enumerates, set as a list. */
export const ownList: DraftForm = (scope) =>
  scope.material.stories.flatMap(({ units, source }) =>
    units.flatMap((unit, index) => {
      if (!unit.list || !unit.standalone || scope.style.noLists || source === 'news') return []
      const following = units.slice(index + 1)
      const rest = following.length > 0 && following.length <= 2 && scope.fits([unit, ...following], 16) ? following : []
      if (!scope.fits([unit, ...rest], 16)) return []
      return [
        candidate({
          hook: 'list-head',
          format: 'list',
          blocks: [
            prose([{ ...unit, text: unit.list.head }]),
            { kind: 'bullets', entries: unit.list.entries },
            ...(rest.length ? [prose(rest)] : []),
          ],
          units: [unit, ...rest],
          lead: unit,
          cues: ['list'],
          closer: 'close-list',
          weight: 1.3,
          why: `Sets the enumeration in your story ${cite(unit)} as a list.`,
        }),
      ]
    }),
  )

/** Every piece is tried in the company of others, which takes the square of their number. */
const MOST_RULES = 40

/** Pieces of advice from stories and phrases, as a checklist. */
export const checklist: DraftForm = (scope) => {
  const { stories, sayings } = scope.material
  const all = [...stories.flatMap(({ units }) => units), ...sayings].filter(
    ({ roles, standalone, words }) => roles.has('rule') && standalone && words <= 16,
  )
  const rules = sampleOf(scope.random, all, { most: MOST_RULES })
  if (scope.style.noLists || rules.length < 3) return []
  return groups(rules, scope)
    .filter((group) => group.length > 2)
    .map((group) =>
      candidate({
        hook: 'checklist-open',
        format: 'checklist',
        blocks: [{ kind: 'glue', slot: 'checklist-lead' }, bullets(group)],
        units: group,
        cues: ['list', 'lesson'],
        closer: 'close-list',
        weight: 1.1,
        why: `Collects advice of yours: ${citeAll(group)}.`,
      }),
    )
}

/** Company with a subject in common, else any: the lines over a pair claim no connection. */
const pairWith = (first: Unit, others: readonly Unit[], { fits, random }: DraftScope): Unit[] => {
  const fitting = others.filter((other) => other.origin !== first.origin && fits([first, other], 40))
  const related = fitting.filter((other) => shared(first.terms, other.terms) > 0)
  const chosen = pick(random, related.length > 0 ? related : fitting)
  return chosen ? [first, chosen] : []
}

const TELLING: readonly SentenceRole[] = ['number', 'failure', 'lesson', 'stance', 'quote']

/** Two sentences that stand for themselves, next to each other and no more: the reader draws the line between them. */
export const sideBySide: DraftForm = (scope) => {
  const openers = (story: Story) =>
    story.units.slice(0, 1).filter(({ complete, roles }) => !scope.style.english || (complete && TELLING.some((role) => roles.has(role))))
  const facts = [
    ...scope.material.stories.filter(({ source }) => source === 'story').flatMap(openers),
    ...scope.material.proof.filter(({ standalone }) => standalone),
  ]
  return facts.flatMap((first) => {
    const pair = pairWith(first, facts, scope)
    const [a, b] = pair
    if (!a || !b) return []
    return [
      candidate({
        hook: a.roles.has('number') && b.roles.has('number') ? 'two-numbers' : 'side-by-side',
        format: 'pairing',
        blocks: scope.style.english ? [{ kind: 'glue', slot: 'pair-lead' }, prose([a]), prose([b])] : [prose([a]), prose([b])],
        units: pair,
        lead: a,
        cues: [],
        // Unrelated pairs are for profiles of which all else was posted.
        weight: shared(a.terms, b.terms) > 0 ? 0.4 : 0.01,
        why: `Places ${quoteOf(a)} next to ${quoteOf(b)} and leaves the connection to the reader.`,
      }),
    ]
  })
}
