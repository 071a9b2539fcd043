import { describe, expect, test } from 'bun:test'
import { addUsage } from '#domain/growth/drafting/draft'
import { callCost, priceUsage } from '#port/model/openai/prices'

const MILLION = 1_000_000

describe('the cost of drafts', () => {
  test('a dated snapshot costs what its undated name costs', () => {
    expect(
      priceUsage('gpt-5-mini-2025-08-07', { input: MILLION, output: MILLION }).cost_micros,
    ).toBe(2_250_000)
  })

  test('a fraction of a micro-dollar is rounded up', () =>
    expect(priceUsage('gpt-5-nano', { input: 1, output: 0 }).cost_micros).toBe(1))

  test('names of object members are unknown models, not prices', () =>
    expect(priceUsage('constructor', { input: 5, output: 5 }).cost_micros).toBe(0))

  test("the operator's own prices go before the list", () =>
    expect(
      priceUsage('gpt-5', { input: 10, output: 1 }, { 'gpt-5': { input: 2, output: 3 } })
        .cost_micros,
    ).toBe(23))

  test('usages add up by field', () => {
    const one = { input_tokens: 1, output_tokens: 2, cost_micros: 3 }
    expect(addUsage(one, one)).toEqual({ input_tokens: 2, output_tokens: 4, cost_micros: 6 })
  })
})

describe('the price of a call in hundredths of a cent', () => {
  const usage = (input_tokens: number, output_tokens = 0, cached_tokens = 0) => ({
    input_tokens,
    cached_tokens,
    output_tokens,
  })

  test('adds up input and output', () =>
    expect(callCost('gpt-5', usage(MILLION, MILLION))).toBe(112_500))

  test('is rounded up', () => {
    expect(callCost('gpt-5-nano', usage(1, 1))).toBe(1)
    expect(callCost('gpt-5', usage(80))).toBe(1)
    expect(callCost('gpt-5', usage(81))).toBe(2)
  })

  test.each([
    ['gpt-5', 1_250],
    ['gpt-4.1', 5_000],
    ['gpt-5.5-pro', 300_000],
  ])('cached input of %s costs what the list says, or the full price', (model, cost) =>
    expect(callCost(model, usage(MILLION, 0, MILLION))).toBe(cost),
  )

  test('a model without a price has none', () => {
    expect(callCost('llama-small', usage(5, 5))).toBeNull()
    expect(callCost('constructor', usage(5, 5))).toBeNull()
  })

  test("the operator's own prices go before the list, and hold for dated names too", () => {
    const own = {
      'gpt-5': { input: 100, output: 0, cached: 10 },
      'llama-small': { input: 1, output: 0 },
    }
    expect(callCost('gpt-5-2025-08-07', usage(2, 0, 1), own)).toBe(2)
    expect(callCost('llama-small', usage(1_000, 0, 500), own)).toBe(10)
    expect(callCost('gpt-5-mini', usage(MILLION), own)).toBe(2_500)
  })
})
