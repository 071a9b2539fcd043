import { describe, expect, test } from 'bun:test'
import { type ArmComparison, compare, comparisonLimits } from '#domain/growth/learning/comparison'

const control = [9, 11, 10, 13, 8, 12, 10, 9]
const better = [12, 15, 11, 19, 14, 17, 13, 16, 18, 15]
const alike = [10, 11, 12, 9, 10, 12, 8, 11]

const measured = (arms: Record<string, number[]>) =>
  Object.entries(arms).flatMap(([arm, values]) =>
    values.map((value, index) => ({ id: `${arm}-${index}`, arm, value })),
  )

const against = (arms: Record<string, number[]>, arm = 'variant') =>
  (compare(Object.keys(arms), measured(arms)) satisfies ArmComparison).against_control.find(
    (one) => one.arm === arm,
  )!

// The numbers of the first two come from scipy: ttest_ind with equal_var=False, and its interval.
describe('an arm against the control', () => {
  test('is higher if the interval of the difference lies above zero', () => {
    const one = against({ control, variant: better })
    expect(one).toMatchObject({ reading: 'higher', difference: 4.75, needed_per_arm: null })
    expect(one.interval!.low).toBeCloseTo(2.60807860898991, 8)
    expect(one.interval!.high).toBeCloseTo(6.891921391010093, 8)
    expect(one.effect_size).toBeCloseTo(2.0294611290950173, 8)
    expect(one.note).toContain('variant is higher than control')
  })

  test('is unclear if the interval holds zero, with the number of posts it would take', () => {
    const one = against({ control, variant: alike })
    expect(one).toMatchObject({ reading: 'unclear', difference: 0.125, needed_per_arm: 2_680 })
    expect(one.interval!.low).toBeCloseTo(-1.5351961078677006, 8)
    expect(one.interval!.high).toBeCloseTo(1.7851961078677006, 8)
    expect(one.effect_size).toBeCloseTo(0.07654274761343542, 8)
    expect(one.note).toContain('about 2680 posts')
  })

  test('is lower if the interval lies below zero', () =>
    expect(against({ control: better, variant: control }).reading).toBe('lower'))

  test.each([
    [comparisonLimits.leastPerArm - 1, comparisonLimits.leastPerArm, 'not_enough_data'],
    [comparisonLimits.leastPerArm, comparisonLimits.leastPerArm - 1, 'not_enough_data'],
    [0, 0, 'not_enough_data'],
    [comparisonLimits.leastPerArm, comparisonLimits.leastPerArm, 'unclear'],
  ])('with %d posts of the control and %d of its own is %s', (n, m, reading) => {
    const one = against({ control: alike.slice(0, n), variant: alike.slice(0, m) })
    expect(one.reading).toBe(reading as never)
    if (reading !== 'not_enough_data') return
    expect(one).toMatchObject({
      difference: null,
      interval: null,
      effect_size: null,
      needed_per_arm: comparisonLimits.leastPerArm,
    })
    expect(one.note).toBe(
      `Not enough data: variant has ${m} and control has ${n} posts with metrics; each needs ${comparisonLimits.leastPerArm}.`,
    )
  })

  test('shows nothing if neither varies', () => {
    const flat = (value: number) => Array.from({ length: 8 }, () => value)
    const one = against({ control: flat(3), variant: flat(4) })
    expect(one).toMatchObject({
      reading: 'unclear',
      difference: 1,
      interval: null,
      effect_size: null,
      needed_per_arm: null,
    })
    expect(one.note).toContain('without variation')
    expect(against({ control: flat(3), variant: alike }).reading).toBe('higher')
  })

  test('is compared with the first arm, as is every other', () => {
    const { against_control } = compare(
      ['control', 'one', 'two'],
      measured({ control, one: better, two: alike }),
    )
    expect(against_control.map(({ arm, reading }) => [arm, reading])).toEqual([
      ['one', 'higher'],
      ['two', 'unclear'],
    ])
  })
})

test('has its size, mean and deviation, and at most a hundred posts as evidence', () => {
  const { arms } = compare(
    ['control', 'one', 'none'],
    measured({ control, one: Array.from({ length: 120 }, () => 1) }),
  )
  expect(arms[0]).toMatchObject({
    arm: 'control',
    n: 8,
    mean: 10.25,
    item_ids: control.map((_, index) => `control-${index}`),
  })
  expect(arms[0]!.sd).toBeCloseTo(1.6690459207925603, 10)
  expect([arms[1]!.n, arms[1]!.item_ids.length]).toEqual([120, 100])
  expect(arms[2]).toEqual({ arm: 'none', n: 0, mean: null, sd: null, item_ids: [] })
})
