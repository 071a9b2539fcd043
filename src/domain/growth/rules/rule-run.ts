/**
 * Runs of rules: one for each rule and occurrence.
 *
 *   queued ─its turn→ running ─generation ends→ done | failed | cancelled
 *      ├─made at once→ done
 *      └─something forbids it→ skipped
 */
import type { Drafting, TakenQuota } from '../drafting/generation.ts'
import { type Rule, today } from './rule.ts'
import type { Evaluated } from './rule-condition.ts'
import type { Occurrence } from './rule-trigger.ts'

const runStatuses = ['queued', 'running', 'done', 'skipped', 'failed', 'cancelled'] as const
type RunStatus = (typeof runStatuses)[number]

export type MadeKind = 'batch' | 'article' | 'item' | 'audit' | 'report' | 'engagement'

export interface RuleRun {
  id: string
  rule_id: string
  /** The kind of the occurrence. */
  trigger: Occurrence['kind']
  /** Its `ref`: a rule runs once for each. */
  occurrence: string
  /** The rules by which it came to the occurrence, the first one first. */
  chain: string[]
  status: RunStatus
  /** Why it was skipped, or how it failed. */
  reason: string | null
  conditions: Evaluated[]
  made_kind: MadeKind | null
  made_id: string | null
  /** Of the month's quota: what it took, less what came back. */
  quota: string | null
  units: number
  /** Millionths of a US dollar, once the model is done. */
  cost_micros: number | null
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
}

/** So many rules may follow from one another. */
export const DEEPEST_CHAIN = 3

/** The words for runs that something of the workspace's own forbids; what a plan forbids has the error's own words. */
export const skips = {
  paused: 'paused',
  missed: 'missed',
  loop: 'loop',
  cap: 'daily_cap',
  conditions: 'conditions',
  nothing: 'nothing_to_resurface',
} as const

const newRun = (id: string, rule: Rule, { occurrence, chain }: Caused, now: Date): RuleRun => ({
  ...{ id, rule_id: rule.id, trigger: occurrence.kind, occurrence: occurrence.ref, chain },
  ...{ status: 'queued', reason: null, conditions: [], made_kind: null, made_id: null },
  ...{ quota: null, units: 0, cost_micros: null, created_at: now, started_at: null, ended_at: null },
})

/** An occurrence with the rules that led to it. */
export interface Caused {
  occurrence: Occurrence
  chain: string[]
}

const isLoop = ({ id }: Rule, chain: readonly string[]): boolean => chain.includes(id) || chain.length >= DEEPEST_CHAIN

/** One more that the cap forbids: the first of a day is recorded as a run, the others are only counted. */
export const overCap = (rule: Rule, now: Date): { rule: Rule; isFirst: boolean } => {
  const counted = today(rule, now)
  return { rule: { ...counted, over: counted.over + 1 }, isFirst: counted.over === 0 }
}

export const isCapped = (rule: Rule, now: Date): boolean => today(rule, now).used >= rule.daily_cap

export const skipped = (run: RuleRun, reason: string, now: Date): RuleRun => ({ ...run, status: 'skipped', reason, ended_at: now })

interface Happened {
  now: Date
  /** All automation is paused. */
  paused: boolean
  newId(): string
}

/** What a rule makes of occurrences that it waits for: runs to come, runs that are over before they begin, and the rule with its counts. */
export const runsFor = (rule: Rule, caused: readonly Caused[], { now, paused, newId }: Happened): { rule: Rule; runs: RuleRun[] } => {
  const runs: RuleRun[] = []
  let counted = rule
  for (const one of caused) {
    const run = newRun(newId(), rule, one, now)
    if (paused) runs.push(skipped(run, skips.paused, now))
    else if (isLoop(rule, one.chain)) runs.push(skipped(run, skips.loop, now))
    else if (isCapped(counted, now)) {
      const over = overCap(counted, now)
      counted = over.rule
      if (over.isFirst) runs.push(skipped(run, skips.cap, now))
    } else runs.push(run)
  }
  return { rule: counted, runs }
}

/** A run that is recorded and never took place. */
export const missedRun = (id: string, rule: Rule, occurrence: Occurrence, { reason, now }: { reason: string; now: Date }): RuleRun =>
  skipped(newRun(id, rule, { occurrence, chain: [] }, now), reason, now)

/** What an action has made. */
export interface Made {
  kind: MadeKind
  id: string
  /** It is still being made. */
  inFlight: boolean
  /** What a generation has taken of the month. */
  taken?: TakenQuota | undefined
}

/** The run has acted: it waits for the generation that it has asked for, or is done. It counts for the day. */
export const acted = (run: RuleRun, rule: Rule, { kind, id, inFlight, taken }: Made, now: Date): { run: RuleRun; rule: Rule } => {
  const counted = today(rule, now)
  return {
    run: {
      ...run,
      status: inFlight ? 'running' : 'done',
      ...{ made_kind: kind, made_id: id, quota: taken?.key ?? null, units: taken?.amount ?? 0 },
      started_at: now,
      ended_at: inFlight ? null : now,
    },
    rule: { ...counted, used: counted.used + 1, last_run_at: now },
  }
}

/** What becomes of a run that waits for this generation. `refund`: what goes back of what it took. */
export const endOf = ({ status, error, usage, updated_at }: Drafting, refund: readonly TakenQuota[]) => {
  const ended: RunStatus = status === 'failed' ? 'failed' : 'done'
  return {
    status: error === 'cancelled' ? ('cancelled' as const) : ended,
    reason: error,
    returned: refund.reduce((sum, { amount }) => sum - amount, 0),
    cost_micros: usage?.cost_micros ?? null,
    ended_at: updated_at,
  }
}

/** The run as every surface shows it. */
export const runView = ({ trigger, occurrence, chain, made_kind, made_id, quota, units, cost_micros, ...run }: RuleRun) => ({
  ...run,
  trigger: { kind: trigger, ref: occurrence, chain },
  made: made_kind && made_id ? { kind: made_kind, id: made_id } : null,
  cost: { quota, units, cost_micros },
  updated_at: run.ended_at ?? run.started_at ?? run.created_at,
})
