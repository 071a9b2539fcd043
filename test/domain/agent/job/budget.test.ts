/** Reserving, settling and warning of what the agent uses. */
import { describe, expect, test } from 'bun:test'
import {
  budgetWarnings,
  estimateTokens,
  historyBytes,
  reserve,
  settleReservation,
} from '#domain/agent/job/budget'
import { usageView } from '#domain/agent/job/usage'
import type { PlanUsage } from '#domain/app/plan'
import { dayOf } from '#domain/app/read-budget'

const now = new Date('2026-11-30T23:59:59.000Z')
const later = new Date('2026-12-01T00:00:01.000Z')
const [DAY, MONTH] = ['2026-11-30', '2026-11']

const usage = (counters: Record<string, number> = {}, overrides: object = {}): PlanUsage =>
  ({
    plan: { plan: 'free', overrides: { agent_tokens_day: 10_000, ...overrides } },
    counters,
    now,
  }) as PlanUsage

const free = () => 0
const cent = ({ input, output }: { input: number; output: number }) => (input + output) / 10

describe('a reservation', () => {
  test('has room for a whole answer, in the day and the month', () => {
    expect(reserve(usage(), { input: 1_000, priceOf: cent })).toEqual({
      tokens: 5_000,
      cost: 500,
      maxTokens: 4_000,
      day: DAY,
      month: MONTH,
      spend: [
        { key: 'agent_tokens_day', period: DAY, amount: 5_000 },
        { key: 'agent_tokens_month', period: MONTH, amount: 5_000 },
        { key: 'agent_cost_month', period: MONTH, amount: 500 },
      ],
    })
  })

  test('is shorter where less is left, and refused where too little is, by the key of the tightest budget', () => {
    const used = (tokens: number) => usage({ [`agent_tokens_day@${DAY}`]: tokens })
    expect(reserve(used(8_000), { input: 1_000, priceOf: free })).toMatchObject({
      tokens: 2_000,
      maxTokens: 1_000,
    })
    expect(reserve(used(8_500), { input: 1_000, priceOf: free })).toMatchObject({ maxTokens: 500 })
    expect(reserve(used(8_501), { input: 1_000, priceOf: free })).toBe('agent_tokens_day')
    const month = usage({ [`agent_tokens_month@${MONTH}`]: 1_999_000 })
    expect(reserve(month, { input: 1_000, priceOf: free })).toBe('agent_tokens_month')
  })

  test('is refused by cost, and takes none of a model without a price', () => {
    const dear = usage({}, { agent_cost_month: 499 })
    expect(reserve(dear, { input: 1_000, priceOf: cent })).toBe('agent_cost_month')
    expect(reserve(dear, { input: 1_000, priceOf: () => null })).toMatchObject({
      cost: 0,
      spend: [{}, {}],
    })
  })

  test('has no end without a limit', () => {
    const endless = usage(
      { [`agent_tokens_day@${DAY}`]: 1e9 },
      { agent_tokens_day: -1, agent_tokens_month: -1, agent_cost_month: -1 },
    )
    expect(reserve(endless, { input: 1_000, priceOf: cent })).toMatchObject({ maxTokens: 4_000 })
  })

  test('is of the present day: what was used on another does not count', () => {
    expect(
      reserve(
        { ...usage({ [`agent_tokens_day@${DAY}`]: 10_000 }), now: later },
        { input: 1, priceOf: free },
      ),
    ).toMatchObject({
      day: '2026-12-01',
      month: '2026-12',
      maxTokens: 4_000,
    })
  })
})

describe('what was used', () => {
  const reserved = { reserved_tokens: 5_000, reserved_cost: 500, day: DAY, month: MONTH }

  test('gives the rest back to the period that it was taken from', () => {
    expect(settleReservation(reserved, { tokens: 1_200, cost: 120 }, later)).toEqual([
      { key: 'agent_tokens_day', period: DAY, amount: -3_800 },
      { key: 'agent_tokens_month', period: MONTH, amount: -3_800 },
      { key: 'agent_cost_month', period: MONTH, amount: -380 },
    ])
  })

  test('beyond the reservation is of the present period', () => {
    expect(settleReservation(reserved, { tokens: 5_100, cost: 510 }, later)).toEqual([
      { key: 'agent_tokens_day', period: '2026-12-01', amount: 100 },
      { key: 'agent_tokens_month', period: '2026-12', amount: 100 },
      { key: 'agent_cost_month', period: '2026-12', amount: 10 },
    ])
  })

  test('exactly as reserved changes nothing', () => {
    expect(settleReservation(reserved, { tokens: 5_000, cost: 500 }, later)).toEqual([])
  })
})

test('a warning comes with the step over four fifths, and not again', () => {
  const spend = (amount: number) => [{ key: 'agent_tokens_day' as const, period: DAY, amount }]
  const used = (tokens: number, overrides = {}) =>
    usage({ [`agent_tokens_day@${DAY}`]: tokens }, overrides)
  expect(budgetWarnings(used(7_000), spend(999))).toEqual([])
  expect(budgetWarnings(used(7_000), spend(1_000))).toEqual([
    { budget: 'agent_tokens_day', period: DAY, used: 8_000, limit: 10_000 },
  ])
  expect(budgetWarnings(used(8_000), spend(1_000))).toEqual([])
  expect(budgetWarnings(used(7_000, { agent_tokens_day: -1 }), spend(1_000))).toEqual([])
})

test('estimates are whole tokens, and no message has more bytes than its share of what the model takes', () => {
  expect(estimateTokens({ known: 100, bytes: 0 })).toBe(100)
  expect(estimateTokens({ known: 100, bytes: 1 })).toBe(101)
  expect(estimateTokens({ known: 0, bytes: 1_000 })).toBe(700)
  expect(estimateTokens({ known: 0, bytes: historyBytes(128_000) })).toBeLessThanOrEqual(
    128_000 * 0.6,
  )
  expect(dayOf(now)).toBe(DAY)
})

describe('usage', () => {
  test('is shown in whole cents: what is used rounded up, what is left down', () => {
    const counters = {
      [`agent_tokens_day@${DAY}`]: 400,
      [`agent_tokens_month@${MONTH}`]: 900,
      [`agent_cost_month@${MONTH}`]: 101,
      'agent_tokens_day@2026-11-29': 9_999,
    }
    const overrides = {
      agent_tokens_month: 1_000,
      agent_cost_month: 1_050,
      agent_calls_hour: 60,
      agent_max_steps: 15,
    }
    expect(usageView(usage(counters, overrides), [{ tool: 'growth_overview', calls: 3 }])).toEqual({
      limits: {
        tokens_day: 10_000,
        tokens_month: 1_000,
        cost_usd_cents_month: 10,
        tool_calls_hour: 60,
        max_steps: 15,
      },
      usage: { tokens_day: 400, tokens_month: 900, cost_usd_cents_month: 2 },
      remaining: { tokens_day: 9_600, tokens_month: 100, cost_usd_cents_month: 9 },
      tools_hour: [{ tool: 'growth_overview', calls: 3, limit: 60 }],
    })
  })

  test('without a limit has nothing that remains, and over a limit nothing is left', () => {
    const counters = { [`agent_tokens_month@${MONTH}`]: 2_000 }
    const { limits, remaining } = usageView(
      usage(counters, { agent_tokens_day: -1, agent_cost_month: -1, agent_tokens_month: 1_000 }),
      [],
    )
    expect(limits).toMatchObject({ tokens_day: -1, cost_usd_cents_month: -1 })
    expect(remaining).toEqual({ tokens_day: null, tokens_month: 0, cost_usd_cents_month: null })
  })
})
