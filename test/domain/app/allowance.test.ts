import { describe, expect, test } from 'bun:test'
import type { PlanState } from '#contract/limits'
import { allowancesOf } from '#domain/app/allowance'

const plan: PlanState = { plan: 'free', billing: 'ok', overrides: {} }
const budget = (
  now: string,
  counters: Record<string, number> = {},
  overrides: PlanState['overrides'] = {},
) => ({
  plan: { ...plan, overrides },
  counters,
  now: new Date(now),
})
const both = { cap: 'create_batch', quota: 'posts' } as const
const noon = '2026-11-21T12:00:01.500Z'

describe('the allowances of an operation', () => {
  test('are its hourly cap and its monthly quota, by the counters of the gate', () => {
    const counters = { 'create_batch@2026-11-21T12': 3, 'posts@2026-11': 50, 'posts@2026-10': 7 }
    expect(allowancesOf(budget(noon, counters), both)).toEqual([
      { name: 'create_batch', limit: 10, window: 3_600, left: 7, resetsIn: 3_599 },
      { name: 'posts', limit: 60, window: 30 * 86_400, left: 10, resetsIn: 9 * 86_400 + 43_199 },
    ])
  })

  test('subtract what the decision takes, and are never negative', () => {
    const spend = [
      { key: 'posts', period: '2026-11', amount: 5 },
      { key: 'create_batch', period: '2026-11-21T12', amount: 1 },
    ]
    expect(allowancesOf(budget(noon), both, spend).map(({ left }) => left)).toEqual([9, 55])
    expect(
      allowancesOf(budget(noon, { 'posts@2026-11': 99 }), { quota: 'posts' }, spend),
    ).toMatchObject([{ left: 0 }])
  })

  test("use an operator's overrides", () => {
    expect(allowancesOf(budget(noon, {}, { create_batch: 2 }), both)).toMatchObject([
      { limit: 2, left: 2 },
      { limit: 60 },
    ])
  })

  test('reset no earlier than they say, in whole seconds rounded up', () => {
    const resetsIn = (now: string) => allowancesOf(budget(now), both).map((one) => one.resetsIn)
    expect(resetsIn('2026-11-30T23:59:59.999Z')).toEqual([1, 1])
    expect(resetsIn('2026-12-01T00:00:00.000Z')).toEqual([3_600, 31 * 86_400])
  })

  test('have a window as long as the month', () => {
    const window = (now: string) =>
      allowancesOf(budget(now), { quota: 'posts' })[0]!.window / 86_400
    expect(
      [
        '2026-01-31T23:59:59Z',
        '2026-02-01T00:00:00Z',
        '2028-02-29T12:00:00Z',
        '2026-12-31T23:00:00Z',
      ].map(window),
    ).toEqual([31, 28, 29, 31])
  })

  test('are empty if the operation uses nothing of the plan', () => {
    expect(allowancesOf(budget(noon), {})).toEqual([])
  })
})
