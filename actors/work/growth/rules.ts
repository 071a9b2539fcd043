/**
 * The lanes of rules: due cron times, and runs started by occurrences. Everything is decided within
 * the claim.
 */

import type { Claiming, Ending, Lane } from '#actors/engine/lane'
import { runEffects } from '#decisions/growth/occurrences'
import { factsNow } from '#decisions/growth/rule-facts'
import { requireFeature } from '#domain/app/plan'
import type { Rule } from '#domain/growth/rules/rule'
import { type EvaluatedCondition, evaluate } from '#domain/growth/rules/rule-condition'
import {
  isCapped,
  missedRun,
  overCap,
  type RuleRun,
  recordAction,
  runsFor,
  skipRun,
  skips,
} from '#domain/growth/rules/rule-run'
import { cronDue } from '#kernel/cron'
import { AppError } from '#kernel/errors'
import type { Failpoints } from '#kernel/failpoint'
import { newId } from '#kernel/ids'
import type { Networks } from '#port/network/registry'
import type { Query } from '#store/engine/db'
import { type Effects, type Gate, merge } from '#store/engine/letter'
import { currentProfile } from '#store/growth/profiles'
import { forgetRuns, knownRuns, lockRun, removeRun, saveRun } from '#store/growth/rule-runs'
import { lockRule, ruleOfRun, saveCounts } from '#store/growth/rules'
import { decidedAtOnce } from '../at-once.ts'
import { finishWork } from '../decisions.ts'
import { act } from './rule-actions.ts'

export interface RuleDeps {
  networks: Networks
  failpoints: Failpoints
}

export const ruleLanes = ({
  networks,
  failpoints,
}: RuleDeps): { rule: Ending<Lane<never, never>>; rule_cron: Lane<never, never> } => ({
  rule_cron: decidedAtOnce('rule_cron', async (claiming) => {
    const effects = await fireCron(claiming)
    await failpoints('rule.firing')
    return { reply: undefined, effects }
  }),
  rule: {
    ...decidedAtOnce('rule', async (claiming) => {
      const effects = await executeRun(networks, claiming)
      await failpoints('rule.acting')
      return finishWork(claiming.work, merge(effects, { writes: [forgetRuns(claiming.gate.now)] }))
    }),
    async givenUp(sql, gate, work) {
      const run = await lockRun(sql, work.ref_id)
      return finishWork(
        work,
        run?.status === 'queued' ? { writes: [saveRun(skipRun(run, skips.failed, gate.now))] } : {},
      )
    },
  },
})

/** A cron time is due: adds its run, and moves on to the next time. */
const fireCron = async ({ sql, gate: { now, paused }, work }: Claiming): Promise<Effects> => {
  const rule = await lockRule(sql, work.ref_id)
  if (rule.trigger.kind !== 'cron' || rule.status !== 'active') return { settled: [work.id] }
  const { run, missed, next } = cronDue(rule.trigger, work.run_at, now)
  const times = [run, missed].flatMap((time) => time?.toISOString() ?? [])
  const known = await knownRuns(sql, [rule.id], times)
  const isNew = (time: Date | undefined): time is Date =>
    time !== undefined && !known.has(`${rule.id} cron ${time.toISOString()}`)
  const caused = isNew(run)
    ? [{ occurrence: { kind: 'cron', ref: run.toISOString() } as const, chain: [] }]
    : []
  const { rule: counted, runs } = runsFor(rule, caused, { now, paused, newId })
  if (isNew(missed))
    runs.push(
      missedRun(
        newId(),
        rule,
        { kind: 'cron', ref: missed.toISOString() },
        { reason: skips.missed, now },
      ),
    )
  return merge(runEffects(runs), {
    writes: counted === rule ? [] : [saveCounts(counted)],
    ...(next ? { requeued: [{ id: work.id, runAt: next }] } : { settled: [work.id] }),
  })
}

/** Executes a queued run: checks what may forbid it, evaluates its conditions, then acts. */
const executeRun = async (networks: Networks, { sql, gate, work }: Claiming): Promise<Effects> => {
  const run = await lockRun(sql, work.ref_id)
  if (run?.status !== 'queued') return {}
  const rule = await ruleOfRun(sql, run.rule_id)
  const skip = (reason: string, conditions: EvaluatedCondition[] = []): Effects => ({
    writes: [saveRun(skipRun({ ...run, conditions }, reason, gate.now))],
  })
  if (!rule) return skip(skips.deleted)
  if (rule.status !== 'active' || gate.paused) return skip(skips.paused)
  const disabled = await refusalOf(async () => requireRules(gate))
  if (typeof disabled === 'string') return skip(disabled)
  if (isCapped(rule, gate.now)) return overCapEffects(rule, run, gate.now)
  const conditions = await evaluateConditions({ sql, gate }, rule, run)
  if (!conditions.every(({ holds }) => holds)) return skip(skips.conditions, conditions)
  const done = await refusalOf(() =>
    act(
      {
        sql,
        gate,
        networks,
        rule: rule.id,
        occurrence: { kind: run.trigger, ref: run.occurrence },
      },
      rule.action,
    ),
  )
  if (typeof done === 'string') return skip(done, conditions)
  const after = recordAction({ ...run, conditions }, rule, done.made, gate.now)
  return merge(done.effects, {
    writes: [saveRun(after.run), saveCounts(after.rule)],
    audit: auditOf(after.run),
  })
}

const requireRules = ({ plan }: Gate): object => {
  requireFeature(plan, 'rules')
  return plan
}

const auditOf = ({ id, rule_id, made_kind, made_id }: RuleRun) => ({
  operation: 'growth.rules.ran',
  refId: rule_id,
  detail: { run: id, made: made_kind, id: made_id },
})

/** Only the first run over the cap in a day is recorded. */
const overCapEffects = (rule: Rule, run: RuleRun, now: Date): Effects => {
  const { rule: counted, isFirst } = overCap(rule, now)
  const write: Query = isFirst ? saveRun(skipRun(run, skips.cap, now)) : removeRun(run.id)
  return { writes: [write, saveCounts(counted)] }
}

const evaluateConditions = async (
  { sql, gate }: Pick<Claiming, 'sql' | 'gate'>,
  { conditions, trigger }: Rule,
  run: RuleRun,
): Promise<EvaluatedCondition[]> => {
  if (conditions.length === 0) return []
  const timeZone =
    trigger.kind === 'cron' ? trigger.time_zone : (await currentProfile(sql)).profile.time_zone
  const occurrence = { kind: run.trigger, ref: run.occurrence }
  const known = await factsNow(
    conditions.map(({ fact }) => fact),
    { sql, gate, timeZone, occurrence },
  )
  return evaluate(conditions, known)
}

/** The result, or the message of a refusal. Other errors are rethrown. */
const refusalOf = async <T extends object>(attempt: () => Promise<T>): Promise<T | string> => {
  try {
    return await attempt()
  } catch (cause) {
    if (cause instanceof AppError && cause.status < 500) return cause.message
    throw cause
  }
}
