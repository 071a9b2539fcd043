/** Conditions of rules: comparisons of facts that the server computes. No model takes part. */
import { itemFacts } from '#contract/records/growth/rule'
import type { ruleRunRecord } from '#contract/records/growth/rule-run'
import type { RowOf } from '#contract/records/record'
import { refuseField } from '#kernel/errors'
import type { Trigger } from './rule-trigger.ts'

export type Condition = EvaluatedCondition['condition']
/** A condition with the fact's value when it was evaluated. */
export type EvaluatedCondition = RowOf<typeof ruleRunRecord>['conditions'][number]
export type Fact = Condition['fact']
type ItemFact = (typeof itemFacts)[number]

const isItemFact = (fact: Fact): fact is ItemFact => (itemFacts as readonly string[]).includes(fact)

/** Valid values of facts that are not counts. Counts start at 0. */
const ranges: Partial<Record<Fact, readonly [least: number, most: number]>> = {
  hour: [0, 23],
  weekday: [1, 7],
}

const aboutItem: Trigger['kind'][] = ['item_posted', 'metric']

const requireUsable = (
  { fact, op, value, text }: Condition,
  trigger: Trigger,
  at: string,
): void => {
  if (!isItemFact(fact)) {
    const number = value ?? refuseField(`${at}.value`, `is required for ${fact}`)
    const [least, most] = ranges[fact] ?? [0, Number.MAX_SAFE_INTEGER]
    if (number < least || number > most)
      refuseField(
        `${at}.value`,
        ranges[fact] ? `must be ${least} to ${most} for ${fact}` : `must be at least 0 for ${fact}`,
      )
    if (text !== undefined)
      refuseField(`${at}.text`, `does not apply to ${fact}, which is a number`)
    return
  }
  if (!aboutItem.includes(trigger.kind))
    refuseField(`${at}.fact`, `${fact} needs a trigger about an item; ${trigger.kind} is not one`)
  if (text === undefined) refuseField(`${at}.text`, `is required for ${fact}`)
  if (value !== undefined) refuseField(`${at}.value`, `does not apply to ${fact}, which is a word`)
  if (op !== '=' && op !== '!=') refuseField(`${at}.op`, `must be = or != for ${fact}`)
}

/** Throws `invalid_input` for the first condition that does not go with the trigger. */
export const requireConditions = (conditions: readonly Condition[], trigger: Trigger): void => {
  for (const [index, condition] of conditions.entries())
    requireUsable(condition, trigger, `conditions.${index}`)
}

const compare: Record<
  Condition['op'],
  (actual: number | string, wanted: number | string) => boolean
> = {
  '<': (actual, wanted) => actual < wanted,
  '<=': (actual, wanted) => actual <= wanted,
  '=': (actual, wanted) => actual === wanted,
  '!=': (actual, wanted) => actual !== wanted,
  '>=': (actual, wanted) => actual >= wanted,
  '>': (actual, wanted) => actual > wanted,
}

/** Evaluates every condition, even after one failed. All must hold. */
export const evaluate = (
  conditions: readonly Condition[],
  known: ReadonlyMap<Fact, number | string>,
): EvaluatedCondition[] =>
  conditions.map((condition) => {
    const actual = known.get(condition.fact)
    if (actual === undefined) throw new Error(`the fact ${condition.fact} was not looked up`)
    const wanted = condition.value ?? condition.text ?? ''
    return { condition, actual: String(actual), holds: compare[condition.op](actual, wanted) }
  })
