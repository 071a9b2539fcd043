import { expect, test } from 'bun:test'
import { credentialRateOf, type RateKey, rateAllowance, rateOf } from '#domain/app/rates'

test.each([
  ['team', 'requests', 1_000, 10_000],
  ['team', 'commands', 300, 5_000],
  ['creator', 'requests', 333, 3_333],
  ['creator', 'commands', 100, 1_667],
  ['free', 'requests', 100, 1_000],
  ['free', 'commands', 30, 500],
  ['a plan that no longer exists', 'requests', 1_000, 10_000],
] as [string, RateKey, number, number][])(
  '%s has %s of %i a second and a burst of %i',
  (plan, key, perSecond, burst) => {
    expect(rateOf({ plan, overrides: {} }, key)).toEqual({ perSecond, burst })
  },
)

test('an override is the sustained rate; the burst keeps its proportion, and is at least one', () => {
  expect(rateOf({ plan: 'team', overrides: { requests: 50 } }, 'requests')).toEqual({
    perSecond: 50,
    burst: 500,
  })
  expect(rateOf({ plan: 'free', overrides: { commands: 1 } }, 'commands')).toEqual({
    perSecond: 1,
    burst: 17,
  })
  expect(rateOf({ plan: 'free', overrides: { commands: 1 } }, 'requests')).toEqual({
    perSecond: 100,
    burst: 1_000,
  })
})

test('a credential has a rate of its own only if an operator has set one', () => {
  expect(
    credentialRateOf({ plan: 'team', overrides: { requests: 50 } }, 'requests'),
  ).toBeUndefined()
  expect(
    credentialRateOf({ plan: 'team', overrides: { credential_requests: 50 } }, 'requests'),
  ).toEqual({ perSecond: 50, burst: 500 })
})

test('allowances have whole requests, and seconds rounded up', () => {
  const rate = { perSecond: 300, burst: 5_000 }
  expect(rateAllowance('commands', rate, 5_000)).toEqual({
    name: 'commands',
    limit: 5_000,
    window: 17,
    left: 5_000,
    resetsIn: 0,
  })
  expect(rateAllowance('commands', rate, 0.9)).toEqual({
    name: 'commands',
    limit: 5_000,
    window: 17,
    left: 0,
    resetsIn: 17,
  })
})
