/**
 * Runs of rules, one for each rule and occurrence.
 *
 *   queued ─claimed→ running ─generation ends→ done | failed | cancelled
 *      ├─made at once→ done
 *      └─not allowed→ skipped
 */
import { ruleRunRecord } from '#contract/records/growth/rule-run'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import type { Drafting, TakenQuota } from '../drafting/generation.ts'
import { onToday, type Rule } from './rule.ts'
import type { Occurrence } from './rule-trigger.ts'

export type RuleRun = RowOf<typeof ruleRunRecord>
export type MadeKind = NonNullable<RuleRun['made_kind']>

/** How many rules can trigger one another in a row. */
export const DEEPEST_CHAIN = 3

/**
 * Reasons why the workspace's own state skips a run. Runs that the plan forbids carry the error's
 * code.
 */
export const skips = {
  paused: 'paused',
  missed: 'missed',
  loop: 'loop',
  cap: 'daily_cap',
  conditions: 'conditions',
  nothing: 'nothing_to_resurface',
  deleted: 'rule_deleted',
  failed: 'internal_error',
} as const

const newRun = (id: string, rule: Rule, { occurrence, chain }: Caused, now: Date): RuleRun => ({
  ...ruleRunRecord.blank,
  id,
  rule_id: rule.id,
  trigger: occurrence.kind,
  occurrence: occurrence.ref,
  chain,
  status: 'queued',
  conditions: [],
  units: 0,
  created_at: now,
})

/** An occurrence with the rules that led to it. */
export interface Caused {
  occurrence: Occurrence
  chain: string[]
}

const isLoop = ({ id }: Rule, chain: readonly string[]): boolean =>
  chain.includes(id) || chain.length >= DEEPEST_CHAIN

/** Counts an occurrence over the daily cap. Only the first of a day becomes a run. */
export const overCap = (rule: Rule, now: Date): { rule: Rule; isFirst: boolean } => {
  const counted = onToday(rule, now)
  return { rule: { ...counted, over: counted.over + 1 }, isFirst: counted.over === 0 }
}

export const isCapped = (rule: Rule, now: Date): boolean =>
  onToday(rule, now).used >= rule.daily_cap

export const skipRun = (run: RuleRun, reason: string, now: Date): RuleRun => ({
  ...run,
  status: 'skipped',
  reason,
  ended_at: now,
})

interface RunContext {
  now: Date
  paused: boolean
  newId(): string
}

/**
 * The runs that matching occurrences start, some of them skipped at once, and the rule with its
 * counts.
 */
export const runsFor = (
  rule: Rule,
  caused: readonly Caused[],
  { now, paused, newId }: RunContext,
): { rule: Rule; runs: RuleRun[] } => {
  const runs: RuleRun[] = []
  let counted = rule
  for (const one of caused) {
    const run = newRun(newId(), rule, one, now)
    if (paused) runs.push(skipRun(run, skips.paused, now))
    else if (isLoop(rule, one.chain)) runs.push(skipRun(run, skips.loop, now))
    else if (isCapped(counted, now)) {
      const over = overCap(counted, now)
      counted = over.rule
      if (over.isFirst) runs.push(skipRun(run, skips.cap, now))
    } else runs.push(run)
  }
  return { rule: counted, runs }
}

/** A skipped run for an occurrence that was missed. */
export const missedRun = (
  id: string,
  rule: Rule,
  occurrence: Occurrence,
  { reason, now }: { reason: string; now: Date },
): RuleRun => skipRun(newRun(id, rule, { occurrence, chain: [] }, now), reason, now)

/** A record that an action made. */
export interface MadeRecord {
  kind: MadeKind
  id: string
  /** Whether a generation is still writing it. */
  inFlight: boolean
  /** The quota that the generation took. */
  taken?: TakenQuota | undefined
}

/**
 * The run after its action: waiting for its generation, or done. It counts towards the day's cap.
 */
export const recordAction = (
  run: RuleRun,
  rule: Rule,
  { kind, id, inFlight, taken }: MadeRecord,
  now: Date,
): { run: RuleRun; rule: Rule } => {
  const counted = onToday(rule, now)
  return {
    run: {
      ...run,
      status: inFlight ? 'running' : 'done',
      made_kind: kind,
      made_id: id,
      quota: taken?.key ?? null,
      units: taken?.amount ?? 0,
      started_at: now,
      ended_at: inFlight ? null : now,
    },
    rule: { ...counted, used: counted.used + 1, last_run_at: now },
  }
}

/** A run's end, once its generation has finished. `refund` is the quota returned. */
export const runEnd = (
  { status, error, usage, updated_at }: Drafting,
  refund: readonly TakenQuota[],
) => {
  const ended: RuleRun['status'] = status === 'failed' ? 'failed' : 'done'
  return {
    status: error === 'cancelled' ? ('cancelled' as const) : ended,
    reason: error,
    returned: refund.reduce((sum, { amount }) => sum - amount, 0),
    cost_micros: usage?.cost_micros ?? null,
    ended_at: updated_at,
  }
}

const view = viewOf(ruleRunRecord)

export const runView = (run: RuleRun) => {
  const { trigger, occurrence, chain, made_kind, made_id, quota, units, cost_micros } = run
  return {
    ...view(run),
    trigger: { kind: trigger, ref: occurrence, chain },
    made: made_kind && made_id ? { kind: made_kind, id: made_id } : null,
    cost: { quota, units, cost_micros },
    updated_at: run.ended_at ?? run.started_at ?? run.created_at,
  }
}
