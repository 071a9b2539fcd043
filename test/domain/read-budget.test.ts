import { expect, test } from 'bun:test'
import { costOf, takeReads } from '#domain/read-budget'
import { errorOf } from './errors.ts'

const now = new Date('2026-11-21T23:59:30Z')

test('a read costs money where the platform bills reads, and one resource of the day where it does not', () => {
  expect([costOf('payg', 'own_post', 100), costOf('payg', 'post', 20), costOf('payg', 'account', 1)]).toEqual([100_000, 100_000, 10_000])
  expect(costOf('free', 'post', 20)).toBe(20)
})

test('the day is spent to the last unit; then reads wait for the next day, by UTC', () => {
  const budget = { tier: 'payg', limit: 10_000, used: 5_000 } as const
  expect(takeReads(budget, 5_000, now)).toEqual({ key: 'reads_payg', period: '2026-11-21', amount: 5_000 })
  expect(errorOf(() => takeReads(budget, 5_001, now))).toMatchObject({ code: 'x_read_budget_exhausted', retryAfter: 30 })
})
