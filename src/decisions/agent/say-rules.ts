import type { Static } from '@sinclair/typebox'
import type { rules } from '#contract/growth/rules'
import type { Rule } from '#domain/growth/rules/rule'
import type { ActionInput, RuleActionKind } from '#domain/growth/rules/rule-action'
import type { TriggerInput, TriggerKind } from '#domain/growth/rules/rule-trigger'
import { found } from '#kernel/errors'
import { rulePart } from '#store/growth/rules'
import { hashOf, inWords, quoted, type Said, type Says, said, saying } from './saying.ts'

type InputOf<N extends keyof typeof rules> = Static<(typeof rules)[N]['input']>

const triggers: Record<TriggerKind, (trigger: TriggerInput) => string> = {
  cron: ({ pattern = '' }) => `at the times of ${quoted(pattern)}`,
  item_posted: () => 'when a post has gone out',
  batch_settled: ({ status }) => (status === undefined ? 'when a batch is ready or has failed' : `when a batch is ${status}`),
  metric: ({ metric = '', at_least = 0 }) => `when the ${inWords([metric])} of a post reach ${at_least}`,
  signal: () => 'on a new signal',
}

const actions: Record<RuleActionKind, (action: ActionInput) => string> = {
  draft_batch: ({ count = 3 }) => `draft ${count} ${count === 1 ? 'post' : 'posts'}`,
  draft_article: ({ topic = '' }) => `draft an article on ${quoted(topic)}`,
  draft_engagement: ({ action = 'reply' }) => `draft a ${action}`,
  request_audit: () => 'make an audit',
  request_report: () => 'make a report',
  resurface: () => 'draft an old post again',
}

const doing = ({ trigger, action }: { trigger: TriggerInput; action: ActionInput }): string =>
  `${triggers[trigger.kind](trigger)}, ${actions[action.kind](action)}`

const create = saying(
  (_: InputOf<'create'>) => ({}),
  (_, input): Said => {
    const { name, status = 'active', daily_cap = 5 } = input
    const cap = `${daily_cap} ${daily_cap === 1 ? 'time' : 'times'} a day`
    return said(`Create the rule ${quoted(name)} (${status}), at most ${cap}: ${doing(input)}`)
  },
)

const stated = ({ id: _, day: __, used: ___, over: ____, last_run_at: _____, updated_at: ______, ...rule }: Rule) => rule

const update = saying(
  ({ id }: InputOf<'update'>) => ({ rule: rulePart(id) }),
  ({ rule }, { id, status, ...patch }): Said => {
    const before = found(rule, 'no such rule')
    const fields = inWords([...(status === undefined ? [] : [`status ${status}`]), ...Object.keys(patch)])
    const next = { trigger: patch.trigger ?? before.trigger, action: patch.action ?? before.action }
    const summary = `Change the rule ${quoted(before.name)} (${fields || 'nothing'}): ${doing(next)}`
    return said(summary, { records: [{ kind: 'rule', id, sha256: hashOf(stated(before)) }] })
  },
)

export const ruleSayings = { 'growth.rules.create': create, 'growth.rules.update': update } satisfies Record<string, Says<never>>
