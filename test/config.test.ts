import { describe, expect, test } from 'bun:test'
import { readConfig } from '#src/config'

describe('EGRESS_ALLOW', () => {
  test('is off by default', () => {
    expect(readConfig({}).egressAllow).toEqual([])
    expect(readConfig({ EGRESS_ALLOW: '' }).egressAllow).toEqual([])
  })

  test('names exact pairs of host and port', () => {
    expect(readConfig({ EGRESS_ALLOW: '127.0.0.1:8080,receiver.test:1,[::1]:9' }).egressAllow).toEqual([
      '127.0.0.1:8080',
      'receiver.test:1',
      '[::1]:9',
    ])
  })

  test.each(['127.0.0.1', '127.0.0.1:', ':80', '*', '10.0.0.0/8', 'http://127.0.0.1:80', '127.0.0.1:80-90', 'a b:80', 'u@h:80', '::1:80'])(
    'does not take %s',
    (text) => expect(() => readConfig({ EGRESS_ALLOW: text })).toThrow('EGRESS_ALLOW takes host:port'),
  )
})

test('SANDBOX_TIER is free unless it is payg, and nothing else', () => {
  expect([readConfig({}).sandboxTier, readConfig({ SANDBOX_TIER: 'payg' }).sandboxTier]).toEqual(['free', 'payg'])
  expect(() => readConfig({ SANDBOX_TIER: 'paid' })).toThrow('SANDBOX_TIER must be free or payg: paid')
})

test('RATE_LIMITS is on unless it is off, and nothing else', () => {
  expect([readConfig({}).rateLimits, readConfig({ RATE_LIMITS: 'off' }).rateLimits]).toEqual([true, false])
  expect(() => readConfig({ RATE_LIMITS: '0' })).toThrow('RATE_LIMITS must be on or off: 0')
})

test('AUDIT_KEEP_DAYS is a number of days', () => {
  expect([readConfig({}).auditKeepDays, readConfig({ AUDIT_KEEP_DAYS: '30' }).auditKeepDays]).toEqual([400, 30])
  for (const wrong of ['0', '-1', '1.5', '36501', 'ever'])
    expect(() => readConfig({ AUDIT_KEEP_DAYS: wrong })).toThrow(`AUDIT_KEEP_DAYS must be a number of days from 1 to 36500: ${wrong}`)
})
