import { describe, expect, test } from 'bun:test'
import type { PlanState } from '#contract/limits'
import { allowancesOf } from '#domain/app/allowance'

const plan: PlanState = { plan: 'free', billing: 'ok', overrides: {} }
const budget = (now: string, counters: Record<string, number> = {}, overrides: PlanState['overrides'] = {}) => ({
  ...{ plan: { ...plan, overrides }, counters, now: new Date(now) },
})
const both = { cap: 'create_batch', quota: 'posts' } as const
const noon = '2026-11-21T12:00:01.500Z'

describe('what is left of the limits of an operation', () => {
  test('is its cap of the hour and its quota of the month, by what the gate has seen', () => {
    const counters = { 'create_batch@2026-11-21T12': 3, 'posts@2026-11': 50, 'posts@2026-10': 7 }
    expect(allowancesOf(budget(noon, counters), both)).toEqual([
      { name: 'create_batch', limit: 10, window: 3_600, left: 7, resetsIn: 3_599 },
      { name: 'posts', limit: 60, window: 30 * 86_400, left: 10, resetsIn: 9 * 86_400 + 43_199 },
    ])
  })

  test('is what remains after what the decision takes, and never less than nothing', () => {
    const spend = [
      { key: 'posts', period: '2026-11', amount: 5 },
      { key: 'create_batch', period: '2026-11-21T12', amount: 1 },
    ]
    expect(allowancesOf(budget(noon), both, spend).map(({ left }) => left)).toEqual([9, 55])
    expect(allowancesOf(budget(noon, { 'posts@2026-11': 99 }), { quota: 'posts' }, spend)).toMatchObject([{ left: 0 }])
  })

  test("has the operator's numbers", () => {
    expect(allowancesOf(budget(noon, {}, { create_batch: 2 }), both)).toMatchObject([{ limit: 2, left: 2 }, { limit: 60 }])
  })

  test('begins anew no sooner than it says: whole seconds, rounded up', () => {
    const resetsIn = (now: string) => allowancesOf(budget(now), both).map((one) => one.resetsIn)
    expect(resetsIn('2026-11-30T23:59:59.999Z')).toEqual([1, 1])
    expect(resetsIn('2026-12-01T00:00:00.000Z')).toEqual([3_600, 31 * 86_400])
  })

  test('has as long a window as the month is', () => {
    const window = (now: string) => allowancesOf(budget(now), { quota: 'posts' })[0]!.window / 86_400
    expect(['2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z', '2028-02-29T12:00:00Z', '2026-12-31T23:00:00Z'].map(window)).toEqual([
      31, 28, 29, 31,
    ])
  })

  test('is nothing where the operation takes nothing of the plan', () => {
    expect(allowancesOf(budget(noon), {})).toEqual([])
  })
})
