import { expect, test } from 'bun:test'
import { numbers } from '../numbers.ts'
import { dueAfter, scenes, stepsOf, written } from './scenes.ts'
import { firstShown, shownFor } from './verdict.ts'

const HOUR_MS = 3_600_000

test('what a clock has shown, and for how long, counts its steps', () => {
  const history = [
    { real: 0, ahead: 0 },
    { real: 1_000, ahead: HOUR_MS },
    { real: 3_000, ahead: 0 },
  ]
  expect(firstShown(history, 500, 0)).toBe(500)
  expect(firstShown(history, 500, 700)).toBe(700)
  expect(firstShown(history, HOUR_MS, 0)).toBe(1_000)
  expect(firstShown(history, HOUR_MS + 2_500, 0)).toBe(2_500)
  expect(firstShown(history, HOUR_MS + 5_000, 0)).toBe(HOUR_MS + 5_000)
  expect(shownFor(history, HOUR_MS, { since: 0, until: 10_000 })).toBe(2_000)
  expect(shownFor(history, 500, { since: 0, until: 1_500 })).toBe(1_000)
})

test('a time is the same instant in every offset in which it is written', () => {
  for (const { at, offsets } of scenes)
    for (const offset of offsets) {
      expect(Date.parse(written(Date.parse(at), offset))).toBe(Date.parse(at))
      expect(written(Date.parse(at), offset).endsWith(offset)).toBe(true)
    }
  const next = numbers(1)
  expect(stepsOf(next).toSorted((a, b) => a - b)).toEqual([-HOUR_MS, HOUR_MS, 48 * HOUR_MS])
  expect(dueAfter(next)).toBeLessThanOrEqual(48 * HOUR_MS)
})
