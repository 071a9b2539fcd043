import { type ruleRuns, rules } from '#contract/growth/rules'
import { newWork } from '#decisions/work'
import { requireFeature } from '#domain/app/plan'
import { newRule, type Rule, ruleView, updateRule } from '#domain/growth/rules/rule'
import { runView } from '#domain/growth/rules/rule-run'
import { requireCounted } from '#domain/growth/rules/rule-trigger'
import { nextTime } from '#kernel/cron'
import { found } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { countingFor } from '#port/network/registry'
import { type Effects, type Gate, merge } from '#store/engine/letter'
import { type Work, workFor } from '#store/engine/work'
import { defaultPart } from '#store/growth/connections'
import { profilePart, type StoredProfile } from '#store/growth/profiles'
import { listRuleRuns } from '#store/growth/rule-runs'
import {
  deleteRule,
  insertRule,
  listRules,
  ruleById,
  ruleCount,
  rulePart,
  type ScheduledRule,
  saveRule,
} from '#store/growth/rules'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { clampTime } from '../engine/time-input.ts'

const standing = (rule: ScheduledRule) => ruleView(rule, rule)

const ruleContext = ({ profile }: StoredProfile, { now }: Gate) => ({
  timeZone: profile.time_zone,
  now,
})

export const ruleHandlers: Handlers<typeof rules> = {
  async list({ status, trigger, from, to, ...input }, { read }) {
    const page = pageOf(input)
    const filters = { status, trigger, from: clampTime(from), to: clampTime(to) }
    const { rows, next_cursor } = pageResult(
      await read(listRules({ ...page, ...filters })),
      page.limit,
    )
    return { rules: rows.map(standing), next_cursor }
  },

  async get({ id }, { read }) {
    const [row] = await read(ruleById(id))
    return { rule: standing(found(row, 'no such rule')) }
  },

  create: loading(
    () => ({ profile: profilePart, account: defaultPart, count: ruleCount }),
    (input, { gate, networks }, { profile, account, count: { total } }) => {
      const rule = newRule(newId(), input, { ...ruleContext(profile, gate), total })
      requireCounted(rule.trigger, countingFor(networks, account))
      requireFeature(gate.plan, rules.create.feature)
      const { next, effects } = scheduleRule(gate, rule)
      return ruleResult(gate, { rule, next }, merge(effects, { writes: [insertRule(rule)] }))
    },
  ),

  update: loading(
    ({ id }) => ({
      before: rulePart(id),
      profile: profilePart,
      account: defaultPart,
      work: workFor('rule_cron', id),
    }),
    ({ id: _, ...patch }, { gate, networks }, { profile, account, work, ...loaded }) => {
      const before = found(loaded.before, 'no such rule')
      const rule = updateRule(before, patch, ruleContext(profile, gate))
      if (patch.trigger) requireCounted(rule.trigger, countingFor(networks, account))
      if (rule.status === 'active') requireFeature(gate.plan, rules.create.feature)
      const { next, effects } = scheduleRule(gate, rule, { before, work })
      return ruleResult(gate, { rule, next }, merge(effects, { writes: [saveRule(rule)] }))
    },
  ),

  remove: loading(
    ({ id }) => ({ before: rulePart(id), work: workFor('rule_cron', id) }),
    ({ id }, { gate }, { before, work }) => {
      const rule = found(before, 'no such rule')
      return ruleResult(
        gate,
        { rule, next: null },
        { writes: [deleteRule(id)], settled: work ? [work.id] : [] },
      )
    },
  ),
}

const ruleResult = (
  { paused: held, now }: Gate,
  { rule, next }: { rule: Rule; next: Date | null },
  effects: Effects,
) => ({
  reply: { rule: ruleView(rule, { held, next, now }) },
  effects,
  refId: rule.id,
})

const isSameTime = ({ trigger: before }: Rule, { trigger: after }: Rule): boolean =>
  before.kind === 'cron' &&
  after.kind === 'cron' &&
  before.pattern === after.pattern &&
  before.time_zone === after.time_zone

/** The cron work of a rule: exists while the rule is active, and moves when its times change. */
const scheduleRule = (
  { now }: Gate,
  rule: Rule,
  { before, work }: { before?: Rule; work?: Work | undefined } = {},
): { next: Date | null; effects: Effects } => {
  const { trigger } = rule
  const next =
    rule.status === 'active' && trigger.kind === 'cron'
      ? nextTime(trigger.pattern, trigger.time_zone, now)
      : undefined
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
    const { rows, next_cursor } = pageResult(
      await read(listRuleRuns({ ...page, ruleId: rule_id })),
      page.limit,
    )
    return { rule_runs: rows.map(runView), next_cursor }
  },
}
