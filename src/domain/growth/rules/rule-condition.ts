/** Conditions of rules: comparisons of facts that the server knows itself. No model has a word in them. */
import { refuseField, type Trigger } from './rule-trigger.ts'

/** Facts with a number for a value. */
const numberFacts = [
  /** Items that are drafted. */
  'approvals_waiting',
  /** Approved items with a time to come. */
  'scheduled_ahead',
  /** Items posted since midnight in the rule's time zone. */
  'posted_today',
  /** 0 to 23, in the rule's time zone. */
  'hour',
  /** 1 is Monday, 7 is Sunday, in the rule's time zone. */
  'weekday',
  /** What the month's quota has left. */
  'posts_left',
  'articles_left',
] as const
/** Facts of the item that the trigger is about, with a word for a value. */
export const itemFacts = ['item_hook', 'item_format', 'item_kind'] as const

type NumberFact = (typeof numberFacts)[number]
type ItemFact = (typeof itemFacts)[number]
export type Fact = NumberFact | ItemFact
export const facts = [...numberFacts, ...itemFacts] as const

export const comparisons = ['<', '<=', '=', '!=', '>=', '>'] as const
type Comparison = (typeof comparisons)[number]

export interface Condition {
  fact: Fact
  op: Comparison
  /** Of facts that are numbers. */
  value?: number
  /** Of facts that are words. */
  text?: string
}

/** A condition with what the fact was when it was looked at. */
export interface Evaluated {
  condition: Condition
  /** As text, whatever the fact is. */
  actual: string
  holds: boolean
}

const isItemFact = (fact: Fact): fact is ItemFact => (itemFacts as readonly string[]).includes(fact)

/** Between which a value means anything; of all others, counts from 0 on. */
const ranges: Partial<Record<Fact, readonly [least: number, most: number]>> = { hour: [0, 23], weekday: [1, 7] }

/** Triggers that are about an item. */
const aboutItem: Trigger['kind'][] = ['item_posted', 'metric']

const requireUsable = ({ fact, op, value, text }: Condition, trigger: Trigger, at: string): void => {
  if (!isItemFact(fact)) {
    const given = value ?? refuseField(`${at}.value`, `is required for ${fact}`)
    const [least, most] = ranges[fact] ?? [0, Number.MAX_SAFE_INTEGER]
    if (given < least || given > most)
      refuseField(`${at}.value`, ranges[fact] ? `is ${least} to ${most} for ${fact}` : `is at least 0 for ${fact}`)
    if (text !== undefined) refuseField(`${at}.text`, `is not for ${fact}, which is a number`)
    return
  }
  if (!aboutItem.includes(trigger.kind)) refuseField(`${at}.fact`, `${fact} is for triggers about an item, which ${trigger.kind} is not`)
  if (text === undefined) refuseField(`${at}.text`, `is required for ${fact}`)
  if (value !== undefined) refuseField(`${at}.value`, `is not for ${fact}, which is a word`)
  if (op !== '=' && op !== '!=') refuseField(`${at}.op`, `must be = or != for ${fact}`)
}

/** Throws `invalid_input` for the first one that means nothing under this trigger. */
export const requireConditions = (conditions: readonly Condition[], trigger: Trigger): void => {
  for (const [index, condition] of conditions.entries()) requireUsable(condition, trigger, `conditions.${index}`)
}

const compare: Record<Comparison, (actual: number | string, wanted: number | string) => boolean> = {
  '<': (actual, wanted) => actual < wanted,
  '<=': (actual, wanted) => actual <= wanted,
  '=': (actual, wanted) => actual === wanted,
  '!=': (actual, wanted) => actual !== wanted,
  '>=': (actual, wanted) => actual >= wanted,
  '>': (actual, wanted) => actual > wanted,
}

/** Every condition, looked at; all must hold, and none is left out because an earlier one does not. */
export const evaluate = (conditions: readonly Condition[], known: ReadonlyMap<Fact, number | string>): Evaluated[] =>
  conditions.map((condition) => {
    const actual = known.get(condition.fact)
    if (actual === undefined) throw new Error(`the fact ${condition.fact} is not known`)
    const wanted = condition.value ?? condition.text ?? ''
    return { condition, actual: String(actual), holds: compare[condition.op](actual, wanted) }
  })
