/** Findings about posts: a planted effect is found, and chance is not. */
import { describe, expect, test } from 'bun:test'
import { compareAll, type Observed, welch } from '#domain/growth/learning/statistics'
import { numbers } from '#test/faults/numbers'

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

interface World {
  posts: number
  /** Multiplies the reactions to posts with the first feature. */
  planted?: { rate?: number; seen?: number }
}

const DIMENSIONS = ['number', 'question', 'list', 'link', 'emoji']

/** Posts with features of all kinds, of which at most one has an effect. */
const worldOf = (seed: number, { posts, planted = {} }: World): Observed[] => {
  const random = numbers(seed)
  return Array.from({ length: posts }, () => {
    const has = DIMENSIONS.map((dimension) => ({ dimension, value: 'yes' })).filter(
      () => random() < 0.4,
    )
    const features = [
      ...has,
      { dimension: 'length', value: ['short', 'medium', 'long'][Math.floor(random() * 3)]! },
      { dimension: 'format', value: `format ${Math.floor(random() * 4)}` },
      { dimension: 'weekday', value: `day ${Math.floor(random() * 5)}` },
    ]
    const isPlanted = has.some(({ dimension }) => dimension === 'number')
    const factor = (of = 1): number => (isPlanted ? of : 1)
    const impressions = Math.round(600 * factor(planted.seen) * Math.exp(0.5 * normal(random)))
    const rate = Math.min(1, 0.03 * factor(planted.rate) * Math.exp(0.4 * normal(random)))
    return { impressions, reactions: Math.round(impressions * rate), features }
  })
}

describe('Welch', () => {
  test('computes difference, error and degrees of freedom as by hand', () => {
    const found = welch([3, 5, 7, 9], [1, 2, 3, 4, 5])!
    expect(found.difference).toBeCloseTo(3, 10)
    expect(found.error).toBeCloseTo(Math.sqrt(20 / 3 / 4 + 2.5 / 5), 10)
    expect(found.freedom).toBeCloseTo(4.746, 2)
    expect(found.effect).toBeCloseTo((3 / Math.sqrt(30 / 7)) * (1 - 3 / 27), 10)
  })

  test('gives nothing for numbers that do not vary, or for a single one', () => {
    expect(welch([1, 1, 1], [2, 2, 2])).toBeUndefined()
    expect(welch([1], [2, 3, 4])).toBeUndefined()
  })
})

describe('a planted effect', () => {
  test.each([
    ['a better rate', { rate: 2 }, 'engagement_rate', 1],
    ['a worse rate', { rate: 0.5 }, 'engagement_rate', -1],
    ['more readers', { seen: 2.5 }, 'impressions', 1],
    ['fewer readers', { seen: 0.4 }, 'impressions', -1],
  ] as const)('is found: %s', (_, planted, measure, sign) => {
    const seeds = Array.from({ length: 40 }, (__, index) => index + 1)
    const found = seeds.filter((seed) =>
      compareAll(worldOf(seed, { posts: 80, planted })).sure.some(
        (one) =>
          one.dimension === 'number' &&
          one.measure === measure &&
          Math.sign(one.effect_size) === sign,
      ),
    )
    expect(found.length).toBeGreaterThanOrEqual(36)
  })

  test('is reported with means and counts of both sides and an interval that holds the truth', () => {
    const [claim] = compareAll(worldOf(3, { posts: 200, planted: { rate: 2 } })).sure
    expect(claim).toMatchObject({ dimension: 'number', value: 'yes', measure: 'engagement_rate' })
    expect(claim!.group.n + claim!.rest.n).toBe(200)
    expect(claim!.members).toHaveLength(claim!.group.n)
    expect(claim!.group.mean).toBeGreaterThan(1.5 * claim!.rest.mean)
    // Twice as much is one whole more than the others.
    expect(claim!.interval.low).toBeLessThan(1)
    expect(claim!.interval.high).toBeGreaterThan(1)
  })
})

describe('where the network counts no impressions', () => {
  const uncounted = (posts: Observed[]): Observed[] =>
    posts.map((one) => ({ ...one, impressions: null }))

  test('reactions per post are compared, and nothing else', () => {
    const posts = uncounted(worldOf(3, { posts: 200, planted: { rate: 3 } }))
    const { all, sure } = compareAll(posts)
    expect(new Set(all.map(({ measure }) => measure))).toEqual(new Set(['reactions']))
    const [claim] = sure
    expect(claim).toMatchObject({ dimension: 'number', value: 'yes' })
    const members = claim!.members.map((index) => posts[index]!.reactions)
    expect(claim!.group.mean).toBeCloseTo(members.reduce((sum, one) => sum + one) / members.length)
  })

  test('posts are never compared with those of a network that counts them', () => {
    const counted = worldOf(3, { posts: 60 })
    const apart = uncounted(worldOf(4, { posts: 60 }))
    const sides = (posts: Observed[]) =>
      compareAll(posts).all.map(({ dimension, value, measure, group, rest }) =>
        JSON.stringify([dimension, value, measure, group, rest]),
      )
    expect(sides([...counted, ...apart]).toSorted()).toEqual(
      [...sides(counted), ...sides(apart)].toSorted(),
    )
  })

  test.each([20, 150])('chance alone is as rarely a finding in samples of %d posts', (posts) => {
    const seeds = Array.from({ length: 100 }, (_, index) => 1_000 + index)
    const claimed = seeds.filter(
      (seed) => compareAll(uncounted(worldOf(seed, { posts }))).sure.length > 0,
    )
    expect(claimed.length).toBeLessThanOrEqual(5)
  })
})

test.each([20, 60, 150])(
  'chance alone makes a finding in at most one of twenty samples of %d posts',
  (posts) => {
    const seeds = Array.from({ length: 200 }, (_, index) => 1_000 + index)
    const claimed = seeds.filter((seed) => compareAll(worldOf(seed, { posts })).sure.length > 0)
    expect(claimed.length).toBeLessThanOrEqual(10)
  },
)

describe('there is no finding', () => {
  test('from fewer than eight posts of a kind, however they differ', () => {
    const rest = worldOf(5, { posts: 60 }).map((one) => ({ ...one, features: [] }))
    const few = rest.slice(0, 7).map((_, index) => ({
      impressions: 90_000 + index,
      reactions: 50_000 + index,
      features: [{ dimension: 'number', value: 'yes' }],
    }))
    expect(compareAll([...rest.slice(7), ...few])).toEqual({
      sure: [],
      likely: [],
      all: [],
      made: 0,
      needed: null,
    })
  })

  test('from no posts', () =>
    expect(compareAll([])).toEqual({ sure: [], likely: [], all: [], made: 0, needed: null }))
})

test('two features that divide the posts alike are compared once', () => {
  const posts = worldOf(7, { posts: 40 }).map((one, index) => ({
    ...one,
    features: [
      { dimension: 'number', value: index % 2 ? 'yes' : 'no' },
      { dimension: 'twin', value: index % 2 ? 'yes' : 'no' },
    ],
  }))
  expect(compareAll(posts).made).toBe(2)
})
