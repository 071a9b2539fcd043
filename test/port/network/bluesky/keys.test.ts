/** The keys under which posts are written. */
import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { MOST_KEYS, nthKey, tidOf } from '#port/network/bluesky/keys'

const TID = /^[234567abcdefghij][234567abcdefghijklmnopqrstuvwxyz]{12}$/
const LETTERS = '234567abcdefghijklmnopqrstuvwxyz'
const AT = new Date('2026-11-29T10:00:30.123Z')

const digestOf = (words: string): Buffer => createHash('sha256').update(words).digest()
/** The time in a key, in microseconds, as the protocol reads it. */
const microsOf = (key: string): number =>
  Number([...key].reduce((all, one) => all * 32n + BigInt(LETTERS.indexOf(one)), 0n) >> 10n)

const many = Array.from({ length: 2_000 }, (_, index) =>
  tidOf({ at: AT, digest: digestOf(`${index}`) }),
)

test('a key is a TID whose time is in the minute of the approval', () => {
  const minute = new Date('2026-11-29T10:00:00Z').getTime() * 1_000
  for (const key of many) {
    expect(key).toMatch(TID)
    expect(Math.floor((microsOf(key) - minute) / 60_000_000)).toBe(0)
  }
})

test('keys are spread over the minute and over the clocks, so that none is met twice', () => {
  expect(new Set(many).size).toBe(many.length)
  expect(new Set(many.map((key) => Math.floor(microsOf(key) / 1_000_000))).size).toBe(60)
  expect(new Set(many.map((key) => key.slice(-2))).size).toBeGreaterThan(800)
})

test('the same approval has the same key, at any second of its minute; another has another', () => {
  const digest = digestOf('one')
  const key = tidOf({ at: AT, digest })
  expect(tidOf({ at: new Date(AT), digest: Buffer.from(digest) })).toBe(key)
  expect(tidOf({ at: new Date('2026-11-29T10:00:00Z'), digest })).toBe(key)
  expect(tidOf({ at: new Date('2026-11-29T10:01:00Z'), digest })).not.toBe(key)
  expect(tidOf({ at: AT, digest: digestOf('another') })).not.toBe(key)
})

test('the further keys of a key are always the same ones, in its minute, and all different', () => {
  const [key] = many as [string]
  const further = Array.from({ length: MOST_KEYS }, (_, n) => nthKey(key, n))
  expect(further[0]).toBe(key)
  expect(further).toEqual(Array.from({ length: MOST_KEYS }, (_, n) => nthKey(key, n)))
  expect(new Set(further).size).toBe(MOST_KEYS)
  for (const one of further) {
    expect(one).toMatch(TID)
    expect(Math.floor(microsOf(one) / 60_000_000)).toBe(Math.floor(microsOf(key) / 60_000_000))
  }
})
