import { expect, test } from 'bun:test'
import { argumentsHash } from '#domain/agent/hash'

test('arguments in another order have the same hash, at any depth', () => {
  expect(argumentsHash({ a: 1, b: { c: [1, 2], d: 'x' } })).toBe(
    argumentsHash({ b: { d: 'x', c: [1, 2] }, a: 1 }),
  )
})

test('other arguments have another hash', () => {
  expect(argumentsHash({ a: 1 })).not.toBe(argumentsHash({ a: '1' }))
  expect(argumentsHash({ a: [1, 2] })).not.toBe(argumentsHash({ a: [2, 1] }))
  expect(argumentsHash({})).not.toBe(argumentsHash({ a: null }))
})
