import { afterEach, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { newId, randomBase62, toBase62 } from '#kernel/ids'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

afterEach(() => void spyOn(Date, 'now').mockRestore())

const HOUR = 3_600_000

/** Makes `count` ids at each of the times. */
const idsAt = (times: number[], count: number): string[] =>
  times.flatMap((time) => {
    spyOn(Date, 'now').mockReturnValue(time)
    return Array.from({ length: count }, newId)
  })

const msOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

test('ids are version 7 UUIDs that sort in the order in which they were made, even many of one millisecond', () => {
  const ids = idsAt([Date.now() - HOUR], 10_000)
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.toSorted()).toEqual(ids)
})

test('an id begins with the milliseconds since 1970', () => {
  const time = Date.now() - 2 * HOUR
  expect(idsAt([time], 1).map(msOf)).toEqual([time])
})

test('ids stay in order while the clock steps back by up to a minute, and follow a clock that is set back further', () => {
  const time = Date.now() - 3 * HOUR
  const ids = idsAt([time, time - 2_000, time - 59_000, time - 1, time + 1], 3_000)
  expect(ids.toSorted()).toEqual(ids)
  expect(msOf(ids.at(-1)!)).toBeLessThan(time + 10)
  expect(idsAt([time - HOUR], 1).map(msOf)).toEqual([time - HOUR])
})

test('a random text has the requested length, and all characters equally often', () => {
  const length = 62_000
  const text = randomBase62(length)
  expect(text).toHaveLength(length)
  const counts = [...ALPHABET].map((character) => text.split(character).length - 1)
  expect(counts.reduce((sum, count) => sum + count)).toBe(length)
  // Chi-squared with 61 degrees of freedom exceeds 180 once in 10^13 runs; bytes modulo 62 would
  // give over 1,000.
  expect(counts.reduce((sum, count) => sum + (count - 1_000) ** 2 / 1_000, 0)).toBeLessThan(180)
})

test('a random text of length zero is empty', () => {
  expect(randomBase62(0)).toBe('')
})

test('a number in base 62 reads back as itself, padded on the left', () => {
  fc.assert(
    fc.property(fc.nat({ max: 0xffffffff }), (value) => {
      const text = toBase62(value, 6)
      expect(text).toHaveLength(6)
      expect([...text].reduce((sum, digit) => sum * 62 + ALPHABET.indexOf(digit), 0)).toBe(value)
    }),
  )
  expect([toBase62(0, 6), toBase62(61, 6), toBase62(62, 6), toBase62(0xffffffff, 6)]).toEqual([
    '000000',
    '00000z',
    '000010',
    '4gfFC3',
  ])
})
