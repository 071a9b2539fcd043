import type { ThoughtUsage } from '#domain/agent/job/answer'
import type { ModelUsage } from '#domain/growth/drafting/draft'

interface Price {
  /** Dollars per million input tokens, which is the same number as micro-dollars per token. */
  input: number
  output: number
  /**
   * The price of input that the provider had cached. If absent, such input costs as much as other
   * input.
   */
  cached?: number | undefined
}

/** Prices by the model's name. */
export type Prices = Readonly<Record<string, Price>>

/**
 * List prices of the provider's models in 2026, for text without batching or long-context
 * surcharges.
 */
const list: Prices = {
  'gpt-5.5': { input: 5, output: 30, cached: 0.5 },
  'gpt-5.5-pro': { input: 30, output: 180 },
  'gpt-5.4': { input: 2.5, output: 15, cached: 0.25 },
  'gpt-5.4-mini': { input: 0.75, output: 4.5, cached: 0.075 },
  'gpt-5.4-nano': { input: 0.2, output: 1.25, cached: 0.02 },
  'gpt-5': { input: 1.25, output: 10, cached: 0.125 },
  'gpt-5-mini': { input: 0.25, output: 2, cached: 0.025 },
  'gpt-5-nano': { input: 0.05, output: 0.4, cached: 0.005 },
  'gpt-4.1': { input: 2, output: 8, cached: 0.5 },
  'gpt-4.1-mini': { input: 0.4, output: 1.6, cached: 0.1 },
  'gpt-4.1-nano': { input: 0.1, output: 0.4, cached: 0.025 },
  'gpt-4o': { input: 2.5, output: 10, cached: 1.25 },
  'gpt-4o-mini': { input: 0.15, output: 0.6, cached: 0.075 },
  o3: { input: 2, output: 8, cached: 0.5 },
  'o4-mini': { input: 1.1, output: 4.4, cached: 0.275 },
}

/**
 * Providers name dated snapshots `gpt-5-mini-2025-08-07`; they cost what the undated name costs.
 */
const stripDate = (model: string): string => model.replace(/-\d{4}-\d{2}-\d{2}$/, '')

const find = (prices: Prices, name: string): Price | undefined =>
  Object.hasOwn(prices, name) ? prices[name] : undefined

/** `own` takes precedence over the list, and a dated name over the undated one. */
const priceOf = (model: string, own: Prices): Price | undefined =>
  find(own, model) ?? find(own, stripDate(model)) ?? find(list, stripDate(model))

/**
 * The usage of one call with its estimated cost: rounded up to a whole micro-dollar, cached input
 * charged in full. A model without a price costs 0; its tokens still count.
 */
export const priceUsage = (
  model: string,
  tokens: { input: number; output: number },
  own: Prices = {},
): ModelUsage => {
  const price = priceOf(model, own)
  const cost = price ? tokens.input * price.input + tokens.output * price.output : 0
  return { input_tokens: tokens.input, output_tokens: tokens.output, cost_micros: Math.ceil(cost) }
}

const MICROS_PER_HUNDREDTH_OF_A_CENT = 100

/** What a call costs, in hundredths of a US cent, rounded up; null for a model without a price. */
export const callCost = (model: string, usage: ThoughtUsage, own: Prices = {}): number | null => {
  const price = priceOf(model, own)
  if (!price) return null
  const { input_tokens, cached_tokens, output_tokens } = usage
  const input =
    (input_tokens - cached_tokens) * price.input + cached_tokens * (price.cached ?? price.input)
  return Math.ceil((input + output_tokens * price.output) / MICROS_PER_HUNDREDTH_OF_A_CENT)
}
