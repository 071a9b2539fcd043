/** Triggers of rules, and which occurrences match them. */
import type { Static } from '@sinclair/typebox'
import { ruleMetrics, type TriggerSchema } from '#contract/records/growth/rule'
import { patternFault } from '#kernel/cron'
import { refuseField } from '#kernel/errors'
import { type Metrics, type PostingNetwork, refuseUncounted, valueOfMetric } from '../metrics.ts'

/** A trigger as requested. */
export type TriggerInput = Static<typeof TriggerSchema>
export type TriggerKind = TriggerInput['kind']
type RuleMetric = NonNullable<TriggerInput['metric']>

export type Trigger =
  /** Five fields, in local time of an IANA time zone. */
  | { kind: 'cron'; pattern: string; time_zone: string }
  | { kind: 'item_posted' }
  /** Any status if none is set. */
  | { kind: 'batch_settled'; status?: 'ready' | 'failed' }
  /**
   * Once for each item, when a metric first reaches `at_least`, up to `within_hours` after posting.
   */
  | { kind: 'metric'; metric: RuleMetric; at_least: number; within_hours?: number }
  /** A signal with at least this score, 0 to 100. */
  | { kind: 'signal'; min_score?: number }

/**
 * Something that happened. `ref` is the id of the record, or the time of a cron trigger in
 * ISO 8601.
 */
export type Occurrence =
  | { kind: 'cron'; ref: string }
  | { kind: 'item_posted'; ref: string }
  | { kind: 'batch_settled'; ref: string; status: 'ready' | 'failed' }
  /** An item's metrics before and after a sync, and the item's age at that time. */
  | { kind: 'metric'; ref: string; before: Metrics | null; after: Metrics; ageMs: number }
  | { kind: 'signal'; ref: string; score: number }

/** Fields of each kind. */
const fieldsOf: Record<
  TriggerKind,
  { needs: (keyof TriggerInput)[]; takes: (keyof TriggerInput)[] }
> = {
  cron: { needs: ['pattern'], takes: ['pattern', 'time_zone'] },
  item_posted: { needs: [], takes: [] },
  batch_settled: { needs: [], takes: ['status'] },
  metric: { needs: ['metric', 'at_least'], takes: ['metric', 'at_least', 'within_hours'] },
  signal: { needs: [], takes: ['min_score'] },
}

interface Shape {
  /** The field's path in the input. */
  path: string
  kind: string
  needs: readonly string[]
  takes: readonly string[]
}

/** Throws `invalid_input` if a required field is missing or one does not belong to the kind. */
export const requireShape = (input: object, { path, kind, needs, takes }: Shape): void => {
  const names = Object.keys(input).filter((name) => name !== 'kind')
  const foreign = names.find((name) => !takes.includes(name))
  if (foreign) refuseField(`${path}.${foreign}`, `does not apply to ${kind}`)
  const missing = needs.find((name) => !names.includes(name))
  if (missing) refuseField(`${path}.${missing}`, `is required for ${kind}`)
}

/**
 * Validates a trigger. A cron trigger without a time zone gets `timeZone`, the profile's, so that
 * the rule says when it fires. Throws `invalid_input`.
 */
export const triggerOf = (
  input: TriggerInput,
  { timeZone, now }: { timeZone: string; now: Date },
): Trigger => {
  requireShape(input, { path: 'trigger', kind: input.kind, ...fieldsOf[input.kind] })
  if (input.kind !== 'cron') return input as Trigger
  const trigger = {
    kind: input.kind,
    pattern: input.pattern!.trim(),
    time_zone: input.time_zone ?? timeZone,
  }
  const fault = patternFault(trigger.pattern, trigger.time_zone, now)
  if (fault) refuseField('trigger.pattern', fault)
  return trigger
}

/** Throws `invalid_input` if the default account's network does not count what it waits for. */
export const requireCounted = (trigger: Trigger, network: PostingNetwork): void => {
  if (trigger.kind === 'metric')
    refuseUncounted(trigger.metric, { network, path: 'trigger.metric', choices: ruleMetrics })
}

/** Null where the network does not count it. A post that nobody has seen yet has a rate of 0. */
const countOf = (metric: RuleMetric, counted: Metrics): number | null =>
  metric === 'engagement_rate' && counted.impressions === 0 ? 0 : valueOfMetric(metric, counted)

type Of<K extends TriggerKind> = Extract<Trigger, { kind: K }>

/**
 * The metric reached the threshold between two syncs. One that was there before the rule existed
 * does not count.
 */
const crosses = (
  { metric, at_least, within_hours }: Of<'metric'>,
  counted: Extract<Occurrence, { kind: 'metric' }>,
): boolean => {
  if (within_hours !== undefined && counted.ageMs > within_hours * 3_600_000) return false
  const before = counted.before && countOf(metric, counted.before)
  const after = countOf(metric, counted.after)
  return (before === null || before < at_least) && after !== null && after >= at_least
}

/** Whether an occurrence matches. Cron times never do: they are made for one rule. */
export const matches = (trigger: Trigger, occurrence: Occurrence): boolean => {
  if (trigger.kind === 'cron' || trigger.kind !== occurrence.kind) return false
  if (trigger.kind === 'signal' && occurrence.kind === 'signal')
    return occurrence.score >= (trigger.min_score ?? 0)
  if (trigger.kind === 'metric' && occurrence.kind === 'metric') return crosses(trigger, occurrence)
  if (trigger.kind === 'batch_settled' && occurrence.kind === 'batch_settled')
    return trigger.status === undefined || trigger.status === occurrence.status
  return true
}
