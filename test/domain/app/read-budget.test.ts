import { expect, test } from 'bun:test'
import type { PlanState } from '#contract/limits'
import { planNames, plans } from '#domain/app/plan'
import {
  affordable,
  balanceReads,
  chargeDoubtRead,
  costOf,
  readBudgetOf,
  settleReads,
  type Tier,
  takeReads,
} from '#domain/app/read-budget'
import { errorOf } from '../errors.ts'

const now = new Date('2026-11-21T23:59:30Z')

test('a read costs money where the network charges for reads, and one resource elsewhere', () => {
  expect([
    costOf('payg', 'own_post', 100),
    costOf('payg', 'post', 20),
    costOf('payg', 'account', 1),
  ]).toEqual([100_000, 100_000, 10_000])
  expect(costOf('free', 'post', 20)).toBe(20)
})

test('the day can be used up to the last unit; then reads wait for the next day in UTC', () => {
  const budget = { tier: 'payg', limit: 10_000, used: 5_000, reserved: 0 } as const
  expect(takeReads(budget, 5_000, now)).toEqual({
    key: 'reads_payg',
    period: '2026-11-21',
    amount: 5_000,
  })
  expect(errorOf(() => takeReads(budget, 5_001, now))).toMatchObject({
    code: 'x_read_budget_exhausted',
    retryAfter: 30,
  })
})

const workspace = (counters: Record<string, number> = {}, state: Partial<PlanState> = {}) => ({
  plan: { plan: 'team', billing: 'ok', overrides: {}, ...state } as PlanState,
  counters,
  now,
})

test.each(
  planNames.flatMap((plan) => (['free', 'payg'] as Tier[]).map((tier) => [plan, tier] as const)),
)(
  'on the plan %s, tier %s, the day has the limit of the plan, and its own counter says what is used',
  (plan, tier) => {
    const other = tier === 'free' ? 'payg' : 'free'
    const counters = {
      [`reads_${tier}@2026-11-21`]: 7,
      [`reads_${tier}@2026-11-20`]: 500,
      [`reads_${other}@2026-11-21`]: 900,
    }
    const limit = plans[plan].reads[tier]
    expect(readBudgetOf(workspace(counters, { plan }), tier)).toEqual({
      tier,
      limit,
      used: 7,
      reserved: limit / 10,
    })
  },
)

test('an override replaces the limit of one tier', () => {
  const state = { overrides: { reads_payg: 50 } }
  expect(readBudgetOf(workspace({}, state), 'payg')).toMatchObject({ limit: 50, reserved: 5 })
  expect(readBudgetOf(workspace({}, state), 'free').limit).toBe(plans.team.reads.free)
})

test('a tenth of the day is reserved for doubts, whose reads are charged and never refused', () => {
  const at = (used: number) => readBudgetOf(workspace({ 'reads_payg@2026-11-21': used }), 'payg')
  expect(takeReads(at(895_000), 5_000, now).amount).toBe(5_000)
  expect(errorOf(() => takeReads(at(895_001), 5_000, now)).code).toBe('x_read_budget_exhausted')
  expect(chargeDoubtRead('payg', 3, now)).toEqual({
    key: 'reads_payg',
    period: '2026-11-21',
    amount: 3_000,
  })
  expect(chargeDoubtRead('free', 3, now)).toEqual({
    key: 'reads_free',
    period: '2026-11-21',
    amount: 3,
  })
})

test('the remaining reads are counted in resources, and never negative', () => {
  const at = (used: number) => readBudgetOf(workspace({ 'reads_payg@2026-11-21': used }), 'payg')
  expect([
    affordable(at(0), 'own_post'),
    affordable(at(0), 'post'),
    affordable(at(0), 'account'),
  ]).toEqual([900, 180, 90])
  expect([
    affordable(at(895_001), 'post'),
    affordable(at(895_000), 'post'),
    affordable(at(2_000_000), 'own_post'),
  ]).toEqual([0, 1, 0])
})

test('reads that were reserved and not made return to their day', () => {
  const taken = takeReads(readBudgetOf(workspace(), 'payg'), 100_000, now)
  expect(settleReads(taken, 15_000)).toEqual({
    key: 'reads_payg',
    period: '2026-11-21',
    amount: -85_000,
  })
  expect([settleReads(taken, 100_000).amount, settleReads(taken, 100_001).amount]).toEqual([0, 0])
})

test('of a read without a bound, what it cost beyond the reservation is charged', () => {
  const taken = takeReads(readBudgetOf(workspace(), 'payg'), 100_000, now)
  expect(balanceReads(taken, 15_000)).toEqual({ ...taken, amount: -85_000 })
  expect(balanceReads(taken, 130_000)).toEqual({ ...taken, amount: 30_000 })
})
