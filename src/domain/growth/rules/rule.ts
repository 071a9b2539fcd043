/**
 * Automation rules: on this trigger, under these conditions, draft that. A person activates or
 * pauses a rule. While all automation is paused, every rule reads as paused.
 */

import { ruleRecord } from '#contract/records/growth/rule'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { dayOf } from '#domain/app/read-budget'
import { refuseNaming } from '../way-on.ts'
import { type ActionInput, actionOf, type RuleAction, requireTrigger } from './rule-action.ts'
import { type Condition, requireConditions } from './rule-condition.ts'
import { type Trigger, type TriggerInput, triggerOf } from './rule-trigger.ts'

/** The trigger and the action have what their kinds need. */
export interface Rule extends Omit<RowOf<typeof ruleRecord>, 'trigger' | 'action'> {
  trigger: Trigger
  action: RuleAction
}
export type RuleStatus = Rule['status']

/** Includes paused rules. */
export const MOST_RULES = 50
export const DAILY_CAP = { usual: 5, most: 50 }

export interface RuleInput {
  name: string
  status?: RuleStatus
  trigger: TriggerInput
  conditions?: Condition[]
  action: ActionInput
  daily_cap?: number
}

export type RulePatch = Partial<RuleInput>

interface RuleContext {
  /** The profile's. */
  timeZone: string
  now: Date
}

const requireWhole = (rule: Rule): Rule => {
  requireTrigger(rule.action, rule.trigger)
  requireConditions(rule.conditions, rule.trigger)
  return rule
}

/** `total` is the number of existing rules. Throws `conflict` or `invalid_input`. */
export const newRule = (
  id: string,
  input: RuleInput,
  { total, ...context }: RuleContext & { total: number },
): Rule => {
  if (total >= MOST_RULES)
    refuseNaming(
      'limit_reached',
      `cannot add: the workspace has ${total} rules; edit a paused one instead`,
      'growth.rules.list',
    )
  const { now } = context
  return requireWhole({
    ...ruleRecord.blank,
    id,
    name: input.name.trim(),
    status: input.status ?? 'active',
    trigger: triggerOf(input.trigger, context),
    conditions: input.conditions ?? [],
    action: actionOf(input.action),
    daily_cap: input.daily_cap ?? DAILY_CAP.usual,
    day: dayOf(now),
    used: 0,
    over: 0,
    created_at: now,
    updated_at: now,
  })
}

/**
 * Absent fields stay. Trigger, conditions and action are replaced whole. Throws `invalid_input`.
 */
export const updateRule = (rule: Rule, patch: RulePatch, context: RuleContext): Rule =>
  requireWhole({
    ...rule,
    name: patch.name?.trim() ?? rule.name,
    status: patch.status ?? rule.status,
    trigger: patch.trigger ? triggerOf(patch.trigger, context) : rule.trigger,
    conditions: patch.conditions ?? rule.conditions,
    action: patch.action ? actionOf(patch.action) : rule.action,
    daily_cap: patch.daily_cap ?? rule.daily_cap,
    updated_at: context.now,
  })

/** The rule with today's counts. */
export const onToday = (rule: Rule, now: Date): Rule =>
  rule.day === dayOf(now) ? rule : { ...rule, day: dayOf(now), used: 0, over: 0 }

/** Who paused the rule. A person's pause outlives a pause of everything. */
const pausedBy = ({ status }: Pick<Rule, 'status'>, held: boolean): 'person' | 'all' | null => {
  if (status === 'paused') return 'person'
  return held ? 'all' : null
}

const view = viewOf(ruleRecord)

/**
 * The rule as the API shows it. `held`: all automation is paused. `next`: the next time of its cron
 * trigger.
 */
export const ruleView = (
  rule: Rule,
  { held, next, now }: { held: boolean; next: Date | null; now: Date },
) => {
  const paused_by = pausedBy(rule, held)
  return {
    ...view(onToday(rule, now)),
    status: paused_by ? 'paused' : 'active',
    paused_by,
    next_run_at: paused_by ? null : next,
  } as const
}
