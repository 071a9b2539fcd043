/**
 * Automation rules: on this trigger, under these conditions, draft that. A person activates or
 * pauses a rule. While all automation is paused, every rule reads as paused.
 */

import { dayOf } from '#domain/app/read-budget'
import { refuseNaming } from '../way-on.ts'
import { type ActionInput, actionOf, type RuleAction, requireTrigger } from './rule-action.ts'
import { type Condition, requireConditions } from './rule-condition.ts'
import { type Trigger, type TriggerInput, triggerOf } from './rule-trigger.ts'

export type RuleStatus = 'active' | 'paused'

export interface Rule {
  id: string
  name: string
  /** As set by a person. */
  status: RuleStatus
  trigger: Trigger
  conditions: Condition[]
  action: RuleAction
  /** The most runs that may act in a day (UTC). */
  daily_cap: number
  /** The day that `used` and `over` count. */
  day: string
  used: number
  /** Occurrences over the cap. */
  over: number
  last_run_at: Date | null
  created_at: Date
  updated_at: Date
}

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
      `cannot add: the workspace has ${total} rules; edit a paused one instead`,
      'growth.rules.list',
    )
  const { now } = context
  return requireWhole({
    id,
    name: input.name.trim(),
    status: input.status ?? 'active',
    trigger: triggerOf(input.trigger, context),
    conditions: input.conditions ?? [],
    action: actionOf(input.action),
    daily_cap: input.daily_cap ?? DAILY_CAP.usual,
    ...{ day: dayOf(now), used: 0, over: 0, last_run_at: null },
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

export type PausedBy = 'person' | 'all'

/** Who paused the rule. A person's pause outlives a pause of everything. */
const pausedBy = ({ status }: Pick<Rule, 'status'>, held: boolean): PausedBy | null => {
  if (status === 'paused') return 'person'
  return held ? 'all' : null
}

/**
 * The rule as the API shows it. `held`: all automation is paused. `next`: the next time of its cron
 * trigger.
 */
export const ruleView = (
  rule: Rule,
  { held, next, now }: { held: boolean; next: Date | null; now: Date },
) => {
  const { day: _day, used, over, ...shown } = onToday(rule, now)
  const paused_by = pausedBy(rule, held)
  return {
    ...shown,
    status: paused_by ? 'paused' : 'active',
    paused_by,
    runs_today: used,
    over_cap_today: over,
    next_run_at: paused_by ? null : next,
  } as const
}
