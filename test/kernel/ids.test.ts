import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { newId, randomBase62, toBase62 } from '#kernel/ids'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('ids are version 7 UUIDs that sort in the order in which they were made', () => {
  const ids = Array.from({ length: 10_000 }, newId)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.toSorted()).toEqual(ids)
})

test('an id begins with the milliseconds since 1970', () => {
  const before = Date.now()
  const made = Number.parseInt(newId().replaceAll('-', '').slice(0, 12), 16)
  expect(made).toBeGreaterThanOrEqual(before)
  expect(made).toBeLessThanOrEqual(Date.now())
})

test('a random text has the requested length, and all characters equally often', () => {
  const length = 62_000
  const text = randomBase62(length)
  expect(text).toHaveLength(length)
  const counts = [...ALPHABET].map((character) => text.split(character).length - 1)
  expect(counts.reduce((sum, count) => sum + count)).toBe(length)
  // Chi-squared with 61 degrees of freedom exceeds 180 once in 10^13 runs; bytes modulo 62 would give over 1,000.
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
  expect([toBase62(0, 6), toBase62(61, 6), toBase62(62, 6), toBase62(0xffffffff, 6)]).toEqual(['000000', '00000z', '000010', '4gfFC3'])
})
