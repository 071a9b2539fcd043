import { describe, expect, test } from 'bun:test'
import {
  DAILY_CAP,
  MOST_RULES,
  newRule,
  type Rule,
  type RuleStatus,
  ruleView,
  updateRule,
} from '#domain/growth/rules/rule'
import type { ActionInput } from '#domain/growth/rules/rule-action'
import { errorOf, faultOf } from '#test/domain/errors'
import { at, HOUR } from '#test/domain/records'

const beside = { timeZone: 'Europe/Berlin', now: at() }
const wish = {
  name: ' Keep drafting ',
  trigger: { kind: 'item_posted' },
  action: { kind: 'draft_batch' },
} as const
const rule: Rule = Object.freeze(newRule('rule-1', wish, { ...beside, total: 0 }))
const shown = { held: false, next: at(HOUR), now: at() }

describe('a new rule', () => {
  test('is active, with its name trimmed and defaults filled in', () => {
    expect(rule).toMatchObject({
      name: 'Keep drafting',
      status: 'active',
      conditions: [],
      action: { kind: 'draft_batch', count: 3, focus: '' },
      daily_cap: DAILY_CAP.usual,
    })
  })

  test('is refused beside fifty others', () => {
    expect(newRule('rule-1', wish, { ...beside, total: MOST_RULES - 1 }).id).toBe('rule-1')
    expect(errorOf(() => newRule('rule-1', wish, { ...beside, total: MOST_RULES })).code).toBe(
      'conflict',
    )
  })
})

/**
 * Status before, status that a person sets or none, status after, and status while all automation
 * is paused.
 */
const states: [
  before: RuleStatus,
  said: RuleStatus | undefined,
  runs: [string, string | null],
  held: [string, string | null],
][] = [
  ['active', undefined, ['active', null], ['paused', 'all']],
  ['active', 'active', ['active', null], ['paused', 'all']],
  ['active', 'paused', ['paused', 'person'], ['paused', 'person']],
  ['paused', undefined, ['paused', 'person'], ['paused', 'person']],
  ['paused', 'active', ['active', null], ['paused', 'all']],
  ['paused', 'paused', ['paused', 'person'], ['paused', 'person']],
]

test.each(states)(
  'a rule that is %s and set to %p is %p, and %p while automation is paused',
  (before, said, runs, held) => {
    const next = updateRule({ ...rule, status: before }, said ? { status: said } : {}, beside)
    const view = (more: object): [string, string | null] => {
      const { status, paused_by } = ruleView(next, { ...shown, ...more })
      return [status, paused_by]
    }
    expect([view({}), view({ held: true })]).toEqual([runs, held])
  },
)

test('a rule shows its next time only while it may run', () => {
  expect(ruleView(rule, shown).next_run_at).toEqual(at(HOUR))
  expect(ruleView(rule, { ...shown, held: true }).next_run_at).toBeNull()
  expect(ruleView({ ...rule, status: 'paused' }, shown).next_run_at).toBeNull()
})

test('a change leaves fields it does not name', () => {
  const changed = updateRule(rule, { daily_cap: 7 }, { ...beside, now: at(1_000) })
  expect(changed).toEqual({ ...rule, daily_cap: 7, updated_at: at(1_000) })
  const condition = { fact: 'item_hook', op: '=', text: 'number' } as const
  const narrowed = updateRule(rule, { conditions: [condition] }, beside)
  expect(narrowed.conditions).toEqual([condition])
  // Conditions that fit the old trigger do not fit another one.
  expect(faultOf(() => updateRule(narrowed, { trigger: { kind: 'batch_settled' } }, beside))).toBe(
    'conditions.0.fact',
  )
})

describe('an action', () => {
  const make = (action: ActionInput) => {
    const kind = action.kind === 'draft_engagement' ? 'signal' : 'item_posted'
    return newRule('rule-1', { ...wish, trigger: { kind }, action }, { ...beside, total: 0 }).action
  }
  const every: Required<Omit<ActionInput, 'kind'>> = {
    count: 2,
    focus: 'docks',
    topic: 'Docks',
    length: 'short',
    outline: 'One',
    action: 'reply',
    days: 14,
    min_age_days: 30,
    min_engagement: 0.1,
    min_reactions: 5,
  }
  const own: Record<ActionInput['kind'], (keyof typeof every)[]> = {
    draft_batch: ['count', 'focus'],
    draft_article: ['topic', 'length', 'outline'],
    draft_engagement: ['action'],
    request_audit: ['days'],
    request_report: [],
    resurface: ['min_age_days', 'min_engagement', 'min_reactions'],
  }

  test.each(Object.keys(own) as ActionInput['kind'][])(
    '%s takes its own fields and no others',
    (kind) => {
      const mine = Object.fromEntries(own[kind].map((name) => [name, every[name]]))
      expect(make({ kind, ...mine })).toEqual({ kind, ...mine } as never)
      for (const name of Object.keys(every) as (keyof typeof every)[])
        if (!own[kind].includes(name))
          expect(faultOf(() => make({ kind, ...mine, [name]: every[name] }))).toBe(`action.${name}`)
    },
  )

  test('that answers is for signals only', () => {
    const action = { kind: 'draft_engagement', action: 'like' } as const
    expect(faultOf(() => newRule('rule-1', { ...wish, action }, { ...beside, total: 0 }))).toBe(
      'action.kind',
    )
  })

  test('needs a topic for an article, and takes no more points than an article may have', () => {
    expect(faultOf(() => make({ kind: 'draft_article' }))).toBe('action.topic')
    expect(
      faultOf(() => make({ kind: 'draft_article', topic: 'x', outline: 'a\n'.repeat(13) })),
    ).toBe('action.outline')
  })
})
