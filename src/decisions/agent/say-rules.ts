import type { Static } from '@sinclair/typebox'
import type { rules } from '#contract/growth/rules'
import type { Rule } from '#domain/growth/rules/rule'
import type { ActionInput, RuleActionKind } from '#domain/growth/rules/rule-action'
import type { Condition } from '#domain/growth/rules/rule-condition'
import type { TriggerInput, TriggerKind } from '#domain/growth/rules/rule-trigger'
import { found } from '#kernel/errors'
import { rulePart } from '#store/growth/rules'
import {
  besides,
  type CallSummary,
  fieldsText,
  hashFields,
  inWords,
  quoteBeginning,
  type Says,
  saying,
  summariseCall,
  valueText,
} from './saying.ts'

type InputOf<N extends keyof typeof rules> = Static<(typeof rules)[N]['input']>

interface Told<I> {
  /** Describes the input; `names` are the fields that the description covers. */
  say(input: I): string
  names: (keyof I)[]
}

const triggers: Record<TriggerKind, Told<TriggerInput>> = {
  cron: {
    say: ({ pattern = '' }) => `at the times of ${quoteBeginning(pattern)}`,
    names: ['pattern'],
  },
  item_posted: { say: () => 'when a post has gone out', names: [] },
  batch_settled: {
    say: ({ status }) =>
      status === undefined ? 'when a batch is ready or has failed' : `when a batch is ${status}`,
    names: ['status'],
  },
  metric: {
    say: ({ metric = '', at_least = 0 }) =>
      `when the ${inWords([metric])} of a post reach ${at_least}`,
    names: ['metric', 'at_least'],
  },
  signal: { say: () => 'on a new signal', names: [] },
}

const actions: Record<RuleActionKind, Told<ActionInput>> = {
  draft_batch: {
    say: ({ count = 3 }) => `draft ${count} ${count === 1 ? 'post' : 'posts'}`,
    names: ['count'],
  },
  draft_article: {
    say: ({ topic = '' }) => `draft an article on ${quoteBeginning(topic)}`,
    names: ['topic'],
  },
  draft_engagement: { say: ({ action = 'reply' }) => `draft a ${action}`, names: ['action'] },
  request_audit: { say: () => 'make an audit', names: [] },
  request_report: { say: () => 'make a report', names: [] },
  resurface: { say: () => 'draft an old post again', names: [] },
}

/** The description, followed by the fields that it leaves out. */
const sayWhole = <I extends { kind: string }>({ say, names }: Told<I>, input: I): string =>
  `${say(input)}${besides(Object.fromEntries(Object.entries(input).filter(([name]) => name !== 'kind' && !names.includes(name as keyof I))))}`

const conditionText = ({ fact, op, value, text }: Condition): string =>
  `${inWords([fact])} ${op} ${[value, text].flatMap((one) => (one === undefined ? [] : [valueText(one)])).join(' ')}`

const sayConditions = (conditions: readonly Condition[] = []): string =>
  conditions.length === 0 ? '' : `, if ${conditions.map(conditionText).join(' and ')}`

interface Does {
  trigger: TriggerInput
  conditions?: readonly Condition[] | undefined
  action: ActionInput
}

const doing = ({ trigger, conditions, action }: Does): string =>
  `${sayWhole(triggers[trigger.kind], trigger)}${sayConditions(conditions)}, ${sayWhole(actions[action.kind], action)}`

const create = saying(
  (_: InputOf<'create'>) => ({}),
  (_, input): CallSummary => {
    const { name, status = 'active', daily_cap = 5 } = input
    const cap = `${daily_cap} ${daily_cap === 1 ? 'time' : 'times'} a day`
    return summariseCall(
      `Create the rule ${quoteBeginning(name)} (${status}), at most ${cap}: ${doing(input as Does)}`,
    )
  },
)

const statePart = ({
  id: _,
  day: __,
  used: ___,
  over: ____,
  last_run_at: _____,
  updated_at: ______,
  ...rule
}: Rule) => rule

const update = saying(
  ({ id }: InputOf<'update'>) => ({ rule: rulePart(id) }),
  ({ rule }, { id, trigger, conditions, action, ...fields }): CallSummary => {
    const before = found(rule, 'no such rule')
    const others = Object.entries({ trigger, conditions, action }).flatMap(([name, value]) =>
      value === undefined ? [] : [name],
    )
    const named = [...(Object.keys(fields).length > 0 ? [fieldsText(fields)] : []), ...others].join(
      ', ',
    )
    const next = {
      trigger: trigger ?? before.trigger,
      conditions: conditions ?? before.conditions,
      action: action ?? before.action,
    }
    const summary = `Change the rule ${quoteBeginning(before.name)} (${named || 'nothing'}): ${doing(next as Does)}`
    return summariseCall(summary, {
      records: [{ kind: 'rule', id, sha256: hashFields(statePart(before)) }],
    })
  },
)

export const ruleSayings = {
  'growth.rules.create': create,
  'growth.rules.update': update,
} satisfies Record<string, Says<never>>
