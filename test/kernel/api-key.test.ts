import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { hashApiKey, isApiKey, newApiKey } from '#kernel/api-key'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** CRC32 (IEEE), bit by bit, so that the test shares nothing with the code it checks. */
const crc32 = (text: string): number => {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

const base62 = (value: number): string => {
  const digits = Array.from(
    { length: 6 },
    (_, place) => ALPHABET[Math.floor(value / 62 ** (5 - place)) % 62],
  )
  return digits.join('')
}

const random = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 30, maxLength: 30 })
const key = random.map((text) => `ak_${text}${base62(crc32(text))}`)

test('the reference CRC32 returns the published check value', () => {
  expect(crc32('123456789')).toBe(0xcbf43926)
})

/** Computed with the libraries of another language. */
test.each([
  'ak_0000000000000000000000000000002C8GjS',
  'ak_abcdefghijklmnopqrstuvwxyz01232LolCm',
  'ak_xxxxxxxxxxxxxxxxxxxxxxxxx0022000DKs5',
])('%s is well formed', (text) => expect(isApiKey(text)).toBe(true))

test('exactly one checksum fits any thirty characters: their CRC32 in base 62, padded on the left', () => {
  fc.assert(
    fc.property(
      random,
      fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 6, maxLength: 6 }),
      (text, other) => {
        expect(isApiKey(`ak_${text}${base62(crc32(text))}`)).toBe(true)
        if (other !== base62(crc32(text))) expect(isApiKey(`ak_${text}${other}`)).toBe(false)
      },
    ),
  )
})

test('a new key is well formed, and never repeats', () => {
  const keys = Array.from({ length: 1_000 }, newApiKey)
  for (const one of keys) {
    expect(one).toMatch(/^ak_[0-9A-Za-z]{36}$/)
    expect(isApiKey(one)).toBe(true)
  }
  expect(new Set(keys).size).toBe(keys.length)
})

test('a key with any one character changed is refused', () => {
  const original = newApiKey()
  for (let place = 0; place < original.length; place++)
    for (const character of `${ALPHABET}_-`) {
      const changed = original.slice(0, place) + character + original.slice(place + 1)
      if (changed !== original) expect([changed, isApiKey(changed)]).toEqual([changed, false])
    }
})

describe('a key with one slip is refused', () => {
  const place = fc.nat({ max: 38 })
  test('an extra character', () => {
    const one = fc.constantFrom(...ALPHABET, ' ', '\n', '\0')
    fc.assert(
      fc.property(key, place, one, (text, at, more) =>
        expect(isApiKey(text.slice(0, at) + more + text.slice(at))).toBe(false),
      ),
    )
  })

  test('a missing character', () => {
    fc.assert(
      fc.property(key, place, (text, at) =>
        expect(isApiKey(text.slice(0, at) + text.slice(at + 1))).toBe(false),
      ),
    )
  })

  test('two neighbours swapped', () => {
    fc.assert(
      fc.property(key, fc.nat({ max: 37 }), (text, at) => {
        fc.pre(text[at] !== text[at + 1])
        expect(isApiKey(text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2))).toBe(
          false,
        )
      }),
    )
  })
})

test('no other text is a key', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => expect(isApiKey(text)).toBe(false)),
  )
  for (const text of [
    '',
    'ak_',
    `${newApiKey()}\n`,
    ` ${newApiKey()}`,
    newApiKey().toUpperCase(),
    `AK_${newApiKey().slice(3)}`,
  ])
    expect([text, isApiKey(text)]).toEqual([text, false])
})

test('the stored hash is the SHA-256 of the complete key', () => {
  const one = newApiKey()
  expect(hashApiKey(one).toString('hex')).toBe(createHash('sha256').update(one).digest('hex'))
})
