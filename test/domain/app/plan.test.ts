import { describe, expect, test } from 'bun:test'
import { type Billing, billingStates, capKeys, type PlanState, quotaKeys } from '#contract/limits'
import {
  budgetsOf,
  defaultPlan,
  hourOf,
  monthOf,
  planNames,
  plans,
  requireBilling,
  takeCap,
  takeQuota,
} from '#domain/app/plan'
import { errorOf } from '../errors.ts'

const noon = new Date('2026-11-21T12:00:00Z')
const planState = (changes: Partial<PlanState> = {}): PlanState => ({
  plan: 'free',
  billing: 'ok',
  overrides: {},
  ...changes,
})
const budget = (
  changes: Partial<PlanState> = {},
  counters: Record<string, number> = {},
  now = noon,
) => ({
  plan: planState(changes),
  counters,
  now,
})

describe('the monthly quota', () => {
  const cells = planNames.flatMap((plan) =>
    quotaKeys.map((key) => [plan, key, plans[plan].quotas[key]] as const),
  )

  test.each(cells)('%s, %s: %i and not one more', (plan, key, limit) => {
    expect(takeQuota(budget({ plan }, { [`${key}@2026-11`]: limit - 1 }), key, 1)).toEqual({
      key,
      period: '2026-11',
      amount: 1,
    })
    const error = errorOf(() => takeQuota(budget({ plan }, { [`${key}@2026-11`]: limit }), key, 1))
    expect([error.code, error.status, error.message]).toEqual([
      'plan_quota_exceeded',
      403,
      `plan_quota_exceeded:${key}`,
    ])
  })

  test('is all or nothing: an amount that does not fit is refused entirely', () => {
    expect(takeQuota(budget({}, { 'posts@2026-11': 50 }), 'posts', 10).amount).toBe(10)
    expect(errorOf(() => takeQuota(budget({}, { 'posts@2026-11': 51 }), 'posts', 10)).message).toBe(
      'plan_quota_exceeded:posts',
    )
  })

  test('counts neither other keys nor other months', () => {
    const counters = {
      'articles@2026-11': 999,
      'posts@2026-10': 999,
      'posts@2025-11': 999,
      'post_now@2026-11-21T12': 999,
    }
    expect(takeQuota(budget({}, counters), 'posts', 60).amount).toBe(60)
  })
})

describe('the hourly cap', () => {
  const cells = planNames.flatMap((plan) =>
    capKeys.map((key) => [plan, key, plans[plan].caps[key]] as const),
  )

  test.each(cells)('%s, %s: %i and not one more', (plan, key, limit) => {
    const period = '2026-11-21T12'
    expect(takeCap(budget({ plan }, { [`${key}@${period}`]: limit - 1 }), key)).toEqual({
      key,
      period,
      amount: 1,
    })
    const error = errorOf(() => takeCap(budget({ plan }, { [`${key}@${period}`]: limit }), key))
    expect([error.code, error.status, error.message]).toEqual([
      'rate_limited',
      429,
      `rate_limited:${key}`,
    ])
  })

  test.each([
    ['12:00:00.000', 3_600],
    ['12:00:00.001', 3_600],
    ['12:00:01.000', 3_599],
    ['12:59:58.999', 2],
    ['12:59:59.000', 1],
    ['12:59:59.999', 1],
  ])('reached at %s, asks to retry in %i s, by which time the hour is over', (time, retryAfter) => {
    const now = new Date(`2026-11-21T${time}Z`)
    const counters = { 'post_now@2026-11-21T12': 20 }
    expect(errorOf(() => takeCap(budget({}, counters, now), 'post_now')).retryAfter).toBe(
      retryAfter,
    )
    const then = new Date(now.getTime() + retryAfter * 1_000)
    expect(takeCap(budget({}, counters, then), 'post_now').period).toBe('2026-11-21T13')
  })

  test('counts neither other actions nor other hours', () => {
    const counters = {
      'create_batch@2026-11-21T12': 999,
      'post_now@2026-11-21T11': 999,
      'post_now@2026-11-20T12': 999,
    }
    expect(takeCap(budget({}, counters), 'post_now').amount).toBe(1)
  })
})

describe('overrides', () => {
  test('replace single limits of the plan, upwards and downwards', () => {
    const overrides = { posts: 100, post_now: 1 }
    expect(takeQuota(budget({ overrides }), 'posts', 100).amount).toBe(100)
    expect(errorOf(() => takeQuota(budget({ overrides }), 'posts', 101)).code).toBe(
      'plan_quota_exceeded',
    )
    expect(
      errorOf(() => takeCap(budget({ overrides }, { 'post_now@2026-11-21T12': 1 }), 'post_now'))
        .code,
    ).toBe('rate_limited')
    expect(errorOf(() => takeQuota(budget({ overrides }), 'articles', 5)).code).toBe(
      'plan_quota_exceeded',
    )
  })

  test('of zero forbid the action', () => {
    expect(errorOf(() => takeQuota(budget({ overrides: { posts: 0 } }), 'posts', 1)).code).toBe(
      'plan_quota_exceeded',
    )
    expect(
      errorOf(() => takeCap(budget({ overrides: { create_batch: 0 } }), 'create_batch')).code,
    ).toBe('rate_limited')
  })
})

describe('billing', () => {
  const blocked = billingStates.filter((state) => state !== 'ok')

  test('blocks for the reasons of the API document', () => {
    expect(blocked).toEqual([
      'billing_suspended',
      'trial_expired',
      'grace_period_ended',
      'plan_expired',
    ])
  })

  test.each(blocked.map((billing) => [billing] as [Billing]))('%s', (billing) => {
    for (const call of [
      () => requireBilling(planState({ billing })),
      () => takeQuota(budget({ billing }), 'posts', 1),
      () => takeQuota(budget({ billing }, { 'posts@2026-11': 60 }), 'posts', 1),
    ]) {
      const error = errorOf(call)
      expect([error.code, error.status, error.message]).toEqual([
        'plan_invalid',
        403,
        `plan_invalid:${billing}`,
      ])
    }
  })

  test('in order allows costly actions', () => {
    expect(requireBilling(planState())).toBeUndefined()
  })
})

describe('periods are counted in UTC', () => {
  test.each([
    ['the last millisecond of a month', '2026-11-30T23:59:59.999Z', '2026-11', '2026-11-30T23'],
    ['the first of the next', '2026-12-01T00:00:00.000Z', '2026-12', '2026-12-01T00'],
    ['still November in Los Angeles', '2026-11-30T17:30:00-08:00', '2026-12', '2026-12-01T01'],
    ['already December in Tokyo', '2026-12-01T08:59:59+09:00', '2026-11', '2026-11-30T23'],
    ['the turn of the year', '2027-01-01T00:00:00Z', '2027-01', '2027-01-01T00'],
    ['a leap day', '2028-02-29T23:59:59Z', '2028-02', '2028-02-29T23'],
  ])('%s', (_, time, month, hour) => {
    expect([monthOf(new Date(time)), hourOf(new Date(time))]).toEqual([month, hour])
  })

  test('so a new month begins with its full quota', () => {
    const counters = { 'posts@2026-11': 60 }
    expect(
      errorOf(() =>
        takeQuota(budget({}, counters, new Date('2026-11-30T23:59:59.999Z')), 'posts', 1),
      ).code,
    ).toBe('plan_quota_exceeded')
    expect(
      takeQuota(budget({}, counters, new Date('2026-12-01T00:00:00Z')), 'posts', 60).period,
    ).toBe('2026-12')
  })
})

test('a plan that no longer exists counts as the default plan', () => {
  const { posts } = plans[defaultPlan].quotas
  expect(takeQuota(budget({ plan: 'gone' }), 'posts', posts).amount).toBe(posts)
  expect(errorOf(() => takeQuota(budget({ plan: 'gone' }), 'posts', posts + 1)).code).toBe(
    'plan_quota_exceeded',
  )
})

describe('the budgets of a plan', () => {
  const budgets = (
    counters: Record<string, number>,
    overrides: PlanState['overrides'] = {},
    now = noon,
  ) => {
    const { quotas, caps } = budgetsOf(budget({ overrides }, counters, now))
    return Object.fromEntries([...quotas, ...caps].map(({ key, ...one }) => [key, one]))
  }

  test('are its quotas and caps, with what this month and hour have used', () => {
    const all = budgets({
      'posts@2026-11': 7,
      'articles@2026-10': 4,
      'post_now@2026-11-21T12': 2,
      'create_batch@2026-11-21T11': 5,
    })
    expect(Object.keys(all)).toEqual([...quotaKeys, ...capKeys])
    const [month, hour] = [
      { period: '2026-11', resets_at: new Date('2026-12-01T00:00:00Z') },
      { period: '2026-11-21T12', resets_at: new Date('2026-11-21T13:00:00Z') },
    ]
    expect(all.posts).toEqual({ used: 7, limit: 60, ...month })
    expect(all.articles).toEqual({ used: 0, limit: 4, ...month })
    expect(all.post_now).toEqual({ used: 2, limit: 20, ...hour })
    expect(all.create_batch).toEqual({ used: 0, limit: 10, ...hour })
  })

  test("have the operator's overrides", () => {
    expect(budgets({}, { posts: 1, post_now: 0 })).toMatchObject({
      posts: { limit: 1 },
      post_now: { limit: 0 },
      articles: { limit: 4 },
    })
  })

  test('reset in January after December', () => {
    expect(budgets({}, {}, new Date('2026-12-31T23:59:59.999Z')).posts).toMatchObject({
      resets_at: new Date('2027-01-01T00:00:00Z'),
    })
  })
})
