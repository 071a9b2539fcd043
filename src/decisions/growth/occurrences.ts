/**
 * Occurrences start runs of rules. The runs are written in the occurrence's own commit, so none is
 * lost and none is doubled.
 */
import { type Caused, type RuleRun, runsFor } from '#domain/growth/rules/rule-run'
import { matches, type Occurrence } from '#domain/growth/rules/rule-trigger'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import { type Effects, type Gate, merge, type NewWork } from '#store/engine/letter'
import type { NewEvent } from '#store/engine/outbox'
import { insertRun, knownRuns, makersOf } from '#store/growth/rule-runs'
import { activeRules, saveCounts } from '#store/growth/rules'
import { newWork } from '../work.ts'

/** Events that are occurrences. */
const inEvents: Record<string, (data: Record<string, unknown>) => Occurrence | []> = {
  'growth.item.posted': ({ item_id }) =>
    typeof item_id === 'string' ? { kind: 'item_posted', ref: item_id } : [],
  'growth.batch.settled': ({ batch_id, status }) =>
    typeof batch_id === 'string'
      ? { kind: 'batch_settled', ref: batch_id, status: status === 'ready' ? 'ready' : 'failed' }
      : [],
}

const occurrencesOf = ({ events = [], occurrences = [] }: Effects): Occurrence[] => [
  ...events.flatMap(({ type, data }: NewEvent) => inEvents[type]?.(data) ?? []),
  ...(occurrences as Occurrence[]),
]

const runWork = ({ id, created_at }: RuleRun): NewWork =>
  newWork('rule', { refId: id, origin: 'automatic', runAt: created_at })

/** Rows for the runs, with work for those still to come. */
export const runEffects = (runs: RuleRun[]): Effects => ({
  writes: runs.map(insertRun),
  work: runs.filter(({ status }) => status === 'queued').map(runWork),
})

const causedBy = async (sql: Sql, occurrences: Occurrence[]): Promise<Caused[]> => {
  const makers = await makersOf(
    sql,
    occurrences.map(({ ref }) => ref),
  )
  return occurrences.map((occurrence) => {
    const maker = makers.get(occurrence.ref)
    return { occurrence, chain: maker ? [...maker.chain, maker.rule_id] : [] }
  })
}

/**
 * Adds the runs that a letter's occurrences start to its effects. Asks the database nothing if the
 * gate says that no active rule waits for such occurrences, and only for the rules if none matches.
 */
export const withRuns = async (
  sql: Sql,
  effects: Effects,
  { now, paused, awaited }: Gate,
): Promise<Effects> => {
  const possible = occurrencesOf(effects).filter(({ kind }) => awaited.includes(kind))
  if (possible.length === 0) return effects
  const rules = await activeRules(sql, [...new Set(possible.map(({ kind }) => kind))])
  const occurrences = possible.filter((one) => rules.some(({ trigger }) => matches(trigger, one)))
  if (occurrences.length === 0) return effects
  const caused = await causedBy(sql, occurrences)
  const known = await knownRuns(
    sql,
    rules.map(({ id }) => id),
    occurrences.map(({ ref }) => ref),
  )
  const all = rules.map((rule) => {
    const isNew = ({ occurrence: { kind, ref } }: Caused) => !known.has(`${rule.id} ${kind} ${ref}`)
    const theirs = caused.filter((one) => matches(rule.trigger, one.occurrence) && isNew(one))
    const { rule: counted, runs } = runsFor(rule, theirs, { now, paused, newId })
    return merge(runEffects(runs), counted === rule ? {} : { writes: [saveCounts(counted)] })
  })
  return merge(effects, ...all)
}
