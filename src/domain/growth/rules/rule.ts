/**
 * Automation rules: when this happens, and these hold, draft that. A rule is active or paused by a person; while all automation is
 * paused it reads paused, whatever it is.
 */

import { dayOf } from '#domain/app/read-budget'
import { fail } from '#kernel/errors'
import { type ActionWish, actionOf, type RuleAction, requireFits } from './rule-action.ts'
import { type Condition, requireConditions } from './rule-condition.ts'
import { type Trigger, type TriggerWish, triggerOf } from './rule-trigger.ts'

export type RuleStatus = 'active' | 'paused'

export interface Rule {
  id: string
  name: string
  /** What a person has made it. */
  status: RuleStatus
  trigger: Trigger
  conditions: Condition[]
  action: RuleAction
  /** Runs that act, a day in UTC. */
  daily_cap: number
  /** The day that `used` and `over` are of. */
  day: string
  used: number
  /** Occurrences that the cap has kept from running. */
  over: number
  last_run_at: Date | null
  created_at: Date
  updated_at: Date
}

/** Paused ones included. */
export const MOST_RULES = 50
export const DAILY_CAP = { usual: 5, most: 50 }

export interface RuleWish {
  name: string
  status?: RuleStatus
  trigger: TriggerWish
  conditions?: Condition[]
  action: ActionWish
  daily_cap?: number
}

export type RulePatch = Partial<RuleWish>

interface Beside {
  /** The profile's. */
  timeZone: string
  now: Date
}

const requireWhole = (rule: Rule): Rule => {
  requireFits(rule.action, rule.trigger)
  requireConditions(rule.conditions, rule.trigger)
  return rule
}

/** `total`: how many there are already. */
export const newRule = (id: string, wish: RuleWish, { total, ...beside }: Beside & { total: number }): Rule => {
  if (total >= MOST_RULES) fail('conflict', `cannot add: the workspace has ${total} rules; edit a paused one instead`)
  const { now } = beside
  return requireWhole({
    id,
    name: wish.name.trim(),
    status: wish.status ?? 'active',
    trigger: triggerOf(wish.trigger, beside),
    conditions: wish.conditions ?? [],
    action: actionOf(wish.action),
    daily_cap: wish.daily_cap ?? DAILY_CAP.usual,
    ...{ day: dayOf(now), used: 0, over: 0, last_run_at: null },
    created_at: now,
    updated_at: now,
  })
}

/** Fields that are absent stay; trigger, conditions and action are replaced whole. */
export const updateRule = (rule: Rule, patch: RulePatch, beside: Beside): Rule =>
  requireWhole({
    ...rule,
    name: patch.name?.trim() ?? rule.name,
    status: patch.status ?? rule.status,
    trigger: patch.trigger ? triggerOf(patch.trigger, beside) : rule.trigger,
    conditions: patch.conditions ?? rule.conditions,
    action: patch.action ? actionOf(patch.action) : rule.action,
    daily_cap: patch.daily_cap ?? rule.daily_cap,
    updated_at: beside.now,
  })

/** The rule with the counts of the day that it is. */
export const today = (rule: Rule, now: Date): Rule => (rule.day === dayOf(now) ? rule : { ...rule, day: dayOf(now), used: 0, over: 0 })

export type PausedBy = 'person' | 'all'

/** Who keeps the rule from running. A person's word outlives the end of a pause of everything. */
const pausedBy = ({ status }: Pick<Rule, 'status'>, held: boolean): PausedBy | null => {
  if (status === 'paused') return 'person'
  return held ? 'all' : null
}

/** The rule as every surface shows it. `held`: all automation is paused. `next`: when its pattern fires next. */
export const ruleView = (rule: Rule, { held, next, now }: { held: boolean; next: Date | null; now: Date }) => {
  const { day: _day, used, over, ...shown } = today(rule, now)
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
