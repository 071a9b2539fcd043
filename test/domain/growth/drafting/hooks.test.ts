import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type HookResult, hookChances, preferredHooks } from '#domain/growth/drafting/hook-choice'
import {
  ARTICLE_HOOK,
  type HookKey,
  hookKeys,
  hookNamed,
  hookPattern,
  postHooks,
} from '#domain/growth/drafting/hooks'
import { runs } from '#test/support/property'

describe('the library', () => {
  test('has at least 40 openings, each with its own name, explanation and example', () => {
    expect(postHooks.length).toBeGreaterThanOrEqual(40)
    const patterns = hookKeys.map(hookPattern)
    for (const field of ['name', 'explanation', 'example'] as const)
      expect(new Set(patterns.map((one) => one[field])).size).toBe(patterns.length)
    for (const { name, explanation, example } of patterns) {
      expect(name).toMatch(/^.{3,40}$/)
      expect(explanation).toMatch(/^.{20,140}\.$/)
      expect(example).toMatch(/^.{10,140}$/)
    }
  })

  test('is searched by key or name, in any case', () => {
    for (const key of postHooks) {
      expect(hookNamed(key)).toBe(key)
      expect(hookNamed(` ${hookPattern(key).name.toUpperCase()} `)).toBe(key)
      expect(hookNamed(key.replaceAll('-', '_'))).toBe(key)
    }
    for (const text of ['', 'opens on "We"', ARTICLE_HOOK, 'toString'])
      expect(hookNamed(text)).toBeUndefined()
  })
})

const basis = 'impressions' as const
const SEEDS = Array.from({ length: 200 }, (_, seed) => `seed-${seed}`)
const weightsOver = (results: HookResult[], hook: HookKey): number[] =>
  SEEDS.map((seed) => hookChances(results, seed).find((one) => one.hook === hook)!.weight)
const mean = (numbers: number[]): number =>
  numbers.reduce((sum, one) => sum + one, 0) / numbers.length

describe('the weight of an opening', () => {
  test('is the same for all while nothing was measured or nobody reacted', () => {
    for (const results of [
      [],
      [{ hook: 'cold-open', basis, posts: 9, mean: 0 }],
      [{ hook: 'of no library', basis, posts: 9, mean: 0.5 }],
    ]) {
      const chances = hookChances(results, 'seed')
      expect(chances.map(({ hook }) => hook)).toEqual([...postHooks])
      expect(new Set(chances.map(({ weight }) => weight))).toEqual(new Set([1]))
      expect(preferredHooks(chances)).toEqual([])
    }
  })

  test('follows performance, more so the more was measured; unknown openings are still tried', () => {
    const results = [
      { hook: 'admission', basis, posts: 20, mean: 0.06 },
      { hook: 'cold-open', basis, posts: 20, mean: 0.02 },
      { hook: 'news', basis, posts: 1, mean: 0.06 },
    ]
    const [good, bad, once, unknown] = (
      ['admission', 'cold-open', 'news', 'your-call'] as const
    ).map((hook) => weightsOver(results, hook))
    expect(Math.min(...good!)).toBeGreaterThan(1.25)
    expect(Math.max(...bad!)).toBeLessThan(1)
    expect(mean(good!)).toBeGreaterThan(4 * mean(bad!))
    const spreadOf = (weights: number[]) =>
      Math.max(...weights.map(Math.log)) - Math.min(...weights.map(Math.log))
    expect(spreadOf(good!)).toBeLessThan(spreadOf(once!))
    expect(unknown!.filter((weight) => weight > 1.25).length).toBeWithin(20, 120)
    expect(unknown!.filter((weight) => weight < 0.8).length).toBeWithin(20, 120)
  })

  test('compares posts whose network counts no impressions only with each other', () => {
    const rates: HookResult[] = [
      { hook: 'admission', basis, posts: 20, mean: 0.06 },
      { hook: 'cold-open', basis, posts: 20, mean: 0.02 },
    ]
    const perPost = rates.map(
      (one): HookResult => ({ ...one, basis: 'posts', mean: 500 * one.mean }),
    )
    for (const hook of ['admission', 'cold-open', 'news'] as const) {
      const weights = weightsOver(rates, hook)
      for (const [seed, weight] of weightsOver(perPost, hook).entries())
        expect(weight).toBeCloseTo(weights[seed]!, 10)
    }
    // Far more reactions a post than the other network has, but the usual number for this one.
    const usual: HookResult = { hook: 'news', basis: 'posts', posts: 20, mean: 40 }
    const mixed = weightsOver([...rates, usual], 'news')
    expect(mean(mixed)).toBeLessThan(mean(weightsOver([...rates, usual], 'admission')))
    expect(mixed).toEqual(weightsOver([...rates, { ...usual, mean: 4 }], 'news'))
  })

  test('is determined by numbers and seed, and bounded', () => {
    const anyResults = fc.uniqueArray(
      fc.record({
        hook: fc.constantFrom(...postHooks),
        basis: fc.constantFrom('impressions' as const, 'posts' as const),
        posts: fc.integer({ min: 1, max: 1_000 }),
        mean: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      { selector: ({ hook, basis }) => `${hook} ${basis}`, maxLength: 12 },
    )
    const property = fc.property(anyResults, fc.string(), (results, seed) => {
      const chances = hookChances(results, seed)
      expect(chances).toEqual(hookChances(results.toReversed(), seed))
      expect(chances.length).toBe(postHooks.length)
      for (const { weight } of chances) expect(weight >= 0.1 && weight <= 10).toBeTrue()
      const preferred = preferredHooks(chances)
      expect(preferred.length).toBeLessThanOrEqual(8)
    })
    fc.assert(property, runs(100))
  })
})
