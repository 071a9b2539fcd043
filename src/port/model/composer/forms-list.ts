import { INVITES, type SentenceRole } from '#domain/growth/reading/roles'
import { countShared } from '#domain/growth/reading/words'
import { fewOf, pick, sampleOf, shuffle } from '#kernel/random'
import { candidate, cite, citeAll, type DraftForm, type DraftScope, quoteOf } from './candidate.ts'
import type { Story, Unit } from './material.ts'

/**
 * Groups of two to four, some around each unit with random others: every unit gets its lists
 * without trying all sets.
 */
const groups = (units: readonly Unit[], { random, fits }: DraftScope): Unit[][] =>
  units.flatMap((unit) => {
    const others = units.filter((other) => other !== unit)
    return [2, 3, 3, 4].flatMap((size) => {
      const group = shuffle(random, [unit, ...fewOf(random, others, size - 1)])
      return group.length === size && fits(group, 40) ? [group] : []
    })
  })

const listable = ({ standalone, roles }: Unit): boolean => standalone && !roles.has('quote')

/** Several pieces of proof under one heading. */
export const receipts: DraftForm = (scope) => {
  if (scope.style.noLists) return []
  return groups(scope.material.proof.filter(listable), scope).map((group) => {
    const numbers = group.every(({ roles }) => roles.has('number'))
    const bullets = [
      numbers ? 'list-numbers' : 'list-plain',
      { kind: 'bullets', units: group },
    ] as const
    const blocks = scope.style.english ? bullets : [{ kind: 'lines' as const, units: group }]
    const why = `Lists ${group.length} pieces of your proof: ${citeAll(group)}.`
    return candidate(numbers ? 'in-numbers' : 'receipts', blocks, why, {
      weight: group.length === 2 ? 0.25 : 0.5,
    })
  })
}

const listLimits = {
  underPhrase: 30,
  ofPhrase: 8,
  /** Grouping takes time quadratic in their number. */
  rules: 40,
} as const

/** One of the person's sayings above a few pieces of proof. */
export const phraseOverProof: DraftForm = (scope) => {
  const proof = sampleOf(scope.random, scope.material.proof.filter(listable), {
    most: listLimits.underPhrase,
  })
  if (scope.style.noLists) return []
  const over = (saying: Unit) => (group: Unit[]) => {
    const why = `Puts your phrase ${cite(saying)} over ${group.length} pieces of your proof: ${citeAll(group)}.`
    const weight = group.some(({ terms }) => countShared(terms, saying.terms) > 0) ? 0.4 : 0.06
    return candidate('phrase-over-proof', [[saying], { kind: 'bullets', units: group }], why, {
      weight,
    })
  }
  return scope.material.sayings
    .filter(({ complete, roles, text }) => complete && !roles.has('rule') && !INVITES.test(text))
    .flatMap((saying) => {
      const fitting = groups(proof, scope).filter((group) => scope.fits([saying, ...group], 20))
      return fitting.slice(0, listLimits.ofPhrase).map(over(saying))
    })
}

/** An enumerating sentence, set as a list. */
export const ownList: DraftForm = (scope) =>
  scope.material.stories.flatMap(({ units, source }) =>
    units.flatMap((unit, index) => {
      if (!unit.list || !unit.standalone || scope.style.noLists || source === 'news') return []
      const following = units.slice(index + 1)
      const rest = following.length <= 2 && scope.fits([unit, ...following], 16) ? following : []
      if (!scope.fits([unit, ...rest], 16)) return []
      const why = `Sets the enumeration in your story ${cite(unit)} as a list.`
      return [candidate('list-head', [{ kind: 'list', units: [unit] }, rest], why)]
    }),
  )

/** Pieces of advice from stories and phrases, as a checklist. */
export const checklist: DraftForm = (scope) => {
  const { stories, sayings } = scope.material
  const all = [...stories.flatMap(({ units }) => units), ...sayings].filter(
    ({ roles, standalone, words }) => roles.has('rule') && standalone && words <= 16,
  )
  const rules = sampleOf(scope.random, all, { most: listLimits.rules })
  if (scope.style.noLists || rules.length < 3) return []
  return groups(rules, scope)
    .filter((group) => group.length > 2)
    .map((group) => {
      const why = `Collects advice of yours: ${citeAll(group)}.`
      return candidate('checklist-open', ['checklist-lead', { kind: 'bullets', units: group }], why)
    })
}

/**
 * Another sentence on the same subject if possible, else any: the lines above a pair claim no
 * connection.
 */
const companyOf = (
  first: Unit,
  others: readonly Unit[],
  { fits, random }: DraftScope,
): Unit | undefined => {
  const fitting = others.filter(
    (other) => other.origin !== first.origin && fits([first, other], 40),
  )
  const related = fitting.filter((other) => countShared(first.terms, other.terms) > 0)
  return pick(random, related.length > 0 ? related : fitting)
}

const TELLING: readonly SentenceRole[] = ['number', 'failure', 'lesson', 'stance', 'quote']

/** Two self-contained sentences side by side; the reader draws the connection. */
export const sideBySide: DraftForm = (scope) => {
  const { english } = scope.style
  const openers = ({ units }: Story) =>
    units
      .slice(0, 1)
      .filter(
        ({ complete, roles }) => !english || (complete && TELLING.some((role) => roles.has(role))),
      )
  const facts = [
    ...scope.material.stories.filter(({ source }) => source === 'story').flatMap(openers),
    ...scope.material.proof.filter(({ standalone }) => standalone),
  ]
  return facts.flatMap((first) => {
    const second = companyOf(first, facts, scope)
    if (!second) return []
    const hook =
      first.roles.has('number') && second.roles.has('number') ? 'two-numbers' : 'side-by-side'
    const why = `Places ${quoteOf(first)} next to ${quoteOf(second)} and leaves the connection to the reader.`
    // Unrelated pairs are for profiles whose other material is used up.
    const weight = countShared(first.terms, second.terms) > 0 ? 0.4 : 0.01
    return [
      candidate(hook, english ? ['pair-lead', [first], [second]] : [[first], [second]], why, {
        weight,
      }),
    ]
  })
}
