import { type ruleRuns, rules } from '#contract/growth/rules'
import { newWork } from '#decisions/work'
import { requireFeature } from '#domain/app/plan'
import { newRule, type Rule, ruleView, updateRule } from '#domain/growth/rules/rule'
import { type RuleRun, runView } from '#domain/growth/rules/rule-run'
import { nextTime } from '#kernel/cron'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/engine/db'
import { type Effects, type Gate, merge } from '#store/engine/letter'
import { workOf } from '#store/engine/work'
import { currentProfile } from '#store/growth/profiles'
import { listRuleRuns } from '#store/growth/rule-runs'
import { countRules, insertRule, listRules, lockRule, type RuleRow, saveRule, toStanding } from '#store/growth/rules'
import type { CommandContext, Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

const ruleContext = async (sql: Sql, { now }: Gate) => ({ timeZone: (await currentProfile(sql)).profile.time_zone, now })

export const ruleHandlers: Handlers<typeof rules> = {
  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<RuleRow>(listRules(page)), page.limit)
    return { rules: rows.map(toStanding).map(({ rule, ...state }) => ruleView(rule, state)), next_cursor }
  },

  async create(input, { sql, gate }) {
    const rule = newRule(newId(), input, { ...(await ruleContext(sql, gate)), total: await countRules(sql) })
    requireFeature(gate.plan, rules.create.feature)
    const { next, effects } = await scheduleRule({ sql, gate }, rule)
    return ruleResult(gate, { rule, next }, merge(effects, { writes: [insertRule(rule)] }))
  },

  async update({ id, ...patch }, { sql, gate }) {
    const before = await lockRule(sql, id)
    const rule = updateRule(before, patch, await ruleContext(sql, gate))
    if (rule.status === 'active') requireFeature(gate.plan, rules.create.feature)
    const { next, effects } = await scheduleRule({ sql, gate }, rule, before)
    return ruleResult(gate, { rule, next }, merge(effects, { writes: [saveRule(rule)] }))
  },
}

const ruleResult = ({ paused: held, now }: Gate, { rule, next }: { rule: Rule; next: Date | null }, effects: Effects) => ({
  reply: { rule: ruleView(rule, { held, next, now }) },
  effects,
  refId: rule.id,
})

const isSameTime = ({ trigger: before }: Rule, { trigger: after }: Rule): boolean =>
  before.kind === 'cron' && after.kind === 'cron' && before.pattern === after.pattern && before.time_zone === after.time_zone

/** The cron work of a rule: exists while the rule is active, and moves when its times change. */
const scheduleRule = async (
  { sql, gate }: Pick<CommandContext, 'sql' | 'gate'>,
  rule: Rule,
  before?: Rule,
): Promise<{ next: Date | null; effects: Effects }> => {
  const work = before && (await workOf(sql, 'rule_cron', rule.id))
  const { trigger } = rule
  const next = rule.status === 'active' && trigger.kind === 'cron' ? nextTime(trigger.pattern, trigger.time_zone, gate.now) : undefined
  if (!next) return { next: null, effects: work ? { settled: [work.id] } : {} }
  if (!before || !work) {
    const fresh = newWork('rule_cron', { refId: rule.id, origin: 'automatic', runAt: next })
    return { next, effects: { work: [fresh] } }
  }
  if (isSameTime(before, rule)) return { next: work.run_at, effects: {} }
  return { next, effects: { requeued: [{ id: work.id, runAt: next }] } }
}

export const ruleRunHandlers: Handlers<typeof ruleRuns> = {
  async list({ rule_id, ...input }, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<RuleRun>(listRuleRuns({ ...page, ruleId: rule_id })), page.limit)
    return { rule_runs: rows.map(runView), next_cursor }
  },
}
