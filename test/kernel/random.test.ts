import { expect, test } from 'bun:test'
import {
  createRandom,
  drawIndex,
  fewOf,
  pick,
  sampleOf,
  shuffle,
  uniform,
  wantedFirst,
} from '#kernel/random'

const numbers = Array.from({ length: 100 }, (_, index) => index)
const take = (random: () => number, count = 1_000): number[] =>
  Array.from({ length: count }, random)

test('one seed gives one sequence, on every machine', () => {
  expect(take(createRandom('seed'))).toEqual(take(createRandom('seed')))
  expect(take(createRandom('seed'))).not.toEqual(take(createRandom('seeds')))
  expect(take(uniform(42), 3)).toEqual([
    0.6011037519201636, 0.44829055899754167, 0.8524657934904099,
  ])
})

test('numbers are spread evenly over [0, 1)', () => {
  const drawn = take(createRandom('even'), 10_000)
  for (const number of drawn) expect(number >= 0 && number < 1).toBeTrue()
  for (const tenth of numbers.slice(0, 10)) {
    const share = drawn.filter((number) => Math.floor(number * 10) === tenth).length / drawn.length
    expect(share).toBeGreaterThan(0.08)
    expect(share).toBeLessThan(0.12)
  }
})

test('shuffling keeps every item, and a few of them are distinct', () => {
  expect(shuffle(createRandom('a'), numbers)).not.toEqual(numbers)
  expect(shuffle(createRandom('a'), numbers).toSorted((a, b) => a - b)).toEqual(numbers)
  expect(new Set(fewOf(createRandom('a'), numbers, 7)).size).toBe(7)
  expect(fewOf(createRandom('a'), [1, 2], 7)).toHaveLength(2)
})

test('wanted items come first, and few enough items are left alone', () => {
  const isWanted = (number: number) => number >= 90
  expect(wantedFirst(createRandom('a'), numbers, isWanted).slice(0, 10).every(isWanted)).toBeTrue()
  expect(sampleOf(createRandom('a'), numbers, { most: 100 })).toBe(numbers)
  expect(
    sampleOf(createRandom('a'), numbers, { most: 10, wanted: isWanted }).every(isWanted),
  ).toBeTrue()
})

test('an index is drawn in proportion to its weight, and none if all are zero', () => {
  const random = createRandom('weights')
  const drawn = Array.from({ length: 4_000 }, () => drawIndex(random, [1, 0, 3]))
  expect(drawn).not.toContain(1)
  expect(drawn.filter((index) => index === 2).length / drawn.length).toBeCloseTo(0.75, 1)
  expect(drawIndex(random, [0, 0])).toBe(-1)
  expect(drawIndex(random, [])).toBe(-1)
  expect(pick(random, [])).toBeUndefined()
})
