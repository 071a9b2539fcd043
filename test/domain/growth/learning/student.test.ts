import { describe, expect, test } from 'bun:test'
import { mean, studentCdf, studentQuantile, variance } from '#domain/growth/learning/student'

// From scipy.stats.t.ppf.
describe("quantiles of Student's t", () => {
  test.each([
    [0.975, 1, 12.706204736174694],
    [0.975, 2.5, 3.5746548420036817],
    [0.975, 10, 2.228138851986274],
    [0.975, 30, 2.0422724563012378],
    [0.995, 7, 3.4994832973504924],
    [0.975, 13.7, 2.149201262229809],
    [0.9, 200, 1.2857987939948012],
    [0.5, 5, 0],
  ])('at %f with %f degrees of freedom', (p, freedom, expected) =>
    expect(studentQuantile(p, freedom)).toBeCloseTo(expected, 8),
  )

  test('are inverted by the distribution, which is symmetric', () => {
    for (const freedom of [1, 3.3, 40, 2_000]) {
      expect(studentCdf(studentQuantile(0.99, freedom), freedom)).toBeCloseTo(0.99, 10)
      expect(studentCdf(-1.3, freedom) + studentCdf(1.3, freedom)).toBeCloseTo(1, 12)
    }
  })
})

test('mean and variance of a sample', () => {
  expect([mean([2, 4, 9]), variance([2, 4, 9]), variance([3, 3])]).toEqual([5, 13, 0])
})
