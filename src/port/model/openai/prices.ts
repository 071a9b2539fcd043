import type { ModelUsage } from '#domain/growth/drafting/draft'

interface Price {
  /** Dollars per million input tokens, which is the same number as micro-dollars per token. */
  input: number
  output: number
}

/** List prices of the provider's models in 2026, for text without batching or long-context surcharges. */
const prices: Readonly<Record<string, Price>> = {
  'gpt-5.5': { input: 5, output: 30 },
  'gpt-5.5-pro': { input: 30, output: 180 },
  'gpt-5.4': { input: 2.5, output: 15 },
  'gpt-5.4-mini': { input: 0.75, output: 4.5 },
  'gpt-5.4-nano': { input: 0.2, output: 1.25 },
  'gpt-5': { input: 1.25, output: 10 },
  'gpt-5-mini': { input: 0.25, output: 2 },
  'gpt-5-nano': { input: 0.05, output: 0.4 },
  'gpt-4.1': { input: 2, output: 8 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6 },
  'gpt-4.1-nano': { input: 0.1, output: 0.4 },
  'gpt-4o': { input: 2.5, output: 10 },
  'gpt-4o-mini': { input: 0.15, output: 0.6 },
  o3: { input: 2, output: 8 },
  'o4-mini': { input: 1.1, output: 4.4 },
}

/** Providers name dated snapshots `gpt-5-mini-2025-08-07`; they cost what the undated name costs. */
const undated = (model: string): string => model.replace(/-\d{4}-\d{2}-\d{2}$/, '')

/**
 * The usage of one call with its estimated cost: list price, rounded up to a whole micro-dollar, cached input charged in full.
 * A model that is not in the table costs 0; its tokens still count.
 */
export const priced = (model: string, tokens: { input: number; output: number }): ModelUsage => {
  const price = Object.hasOwn(prices, undated(model)) ? prices[undated(model)] : undefined
  const cost = price ? tokens.input * price.input + tokens.output * price.output : 0
  return { input_tokens: tokens.input, output_tokens: tokens.output, cost_micros: Math.ceil(cost) }
}

/** The sum of two usages, field by field. */
export const addUsage = (a: ModelUsage, b: ModelUsage): ModelUsage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  cost_micros: a.cost_micros + b.cost_micros,
})
