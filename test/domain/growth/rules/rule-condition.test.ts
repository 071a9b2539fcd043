import { describe, expect, test } from 'bun:test'
import { comparisons, facts, itemFacts } from '#contract/records/growth/rule'
import { newRule, type Rule, updateRule } from '#domain/growth/rules/rule'
import { evaluate } from '#domain/growth/rules/rule-condition'
import { errorOf, faultOf } from '#test/domain/errors'
import { at } from '#test/domain/records'

const beside = { timeZone: 'Europe/Berlin', now: at() }
const wish = {
  name: ' Keep drafting ',
  trigger: { kind: 'item_posted' },
  action: { kind: 'draft_batch' },
} as const
const rule: Rule = Object.freeze(newRule('rule-1', wish, { ...beside, total: 0 }))

describe('conditions', () => {
  const holds: Record<(typeof comparisons)[number], [less: boolean, same: boolean, more: boolean]> =
    {
      '<': [true, false, false],
      '<=': [true, true, false],
      '=': [false, true, false],
      '!=': [true, false, true],
      '>=': [false, true, true],
      '>': [false, false, true],
    }
  test.each([...comparisons])('compare by %s', (op) => {
    const results = [9, 10, 11].map(
      (actual) =>
        evaluate([{ fact: 'hour', op, value: 10 }], new Map([['hour', actual]]))[0]!.holds,
    )
    expect(results).toEqual(holds[op])
  })

  const isWord = (fact: string) => (itemFacts as readonly string[]).includes(fact)
  test.each([...facts])('of %s need a value of their kind', (fact) => {
    const make = (condition: object) =>
      updateRule(rule, { conditions: [{ fact, op: '=', ...condition }] }, beside)
    const [right, wrong] = isWord(fact)
      ? [{ text: 'x' }, { value: 1 }]
      : [{ value: 1 }, { text: 'x' }]
    expect(make(right).conditions).toHaveLength(1)
    expect(faultOf(() => make(wrong))).toBe(`conditions.0.${Object.keys(right)[0]}`)
    expect(faultOf(() => make({ ...right, ...wrong }))).toBe(
      `conditions.0.${Object.keys(wrong)[0]}`,
    )
    if (isWord(fact)) expect(faultOf(() => make({ ...right, op: '<' }))).toBe('conditions.0.op')
  })
})

describe('the value of a condition', () => {
  const wishOf = (fact: 'hour' | 'weekday' | 'approvals_waiting', value: number) => ({
    name: 'Bounds',
    trigger: { kind: 'item_posted' },
    action: { kind: 'draft_batch' },
    conditions: [{ fact, op: '=', value }],
  })
  const make = (fact: 'hour' | 'weekday' | 'approvals_waiting', value: number) =>
    newRule('id', wishOf(fact, value) as never, { total: 0, timeZone: 'UTC', now: at() })

  test.each([
    ['hour', 0, 23, 'must be 0 to 23 for hour'],
    ['weekday', 1, 7, 'must be 1 to 7 for weekday'],
  ] as const)(
    'of %s lies where the clock and the calendar can be',
    (fact, least, most, message) => {
      for (const value of [least, most])
        expect(make(fact, value).conditions).toEqual([{ fact, op: '=', value }])
      for (const value of [least - 1, most + 1])
        expect(errorOf(() => make(fact, value)).details).toEqual([
          { path: 'conditions.0.value', message },
        ])
    },
  )

  test('of a count is never below zero', () => {
    expect(make('approvals_waiting', 0).conditions).toHaveLength(1)
    expect(errorOf(() => make('approvals_waiting', -1)).message).toContain(
      'must be at least 0 for approvals_waiting',
    )
  })
})
