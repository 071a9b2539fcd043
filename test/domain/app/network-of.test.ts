import { expect, test } from 'bun:test'
import { networkOf } from '#domain/app/network-of'

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::ffff:cb00:7107', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::ffff', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['203.0.113.7:8080', '203.0.113.7'],
  ['[2001:db8:1:2::9]:443', '2001:db8:1:2::/64'],
  ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
])('%s is counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test.each(['unknown', '1:2:3', '::1::2', '1:2:3:4:5:6:7:8:9', 'x::1', ''])(
  '%p is counted as it is',
  (text) => {
    expect(networkOf(text)).toBe(text)
  },
)

test('a text that is not an address is counted by its first 64 characters', () => {
  expect(networkOf('x'.repeat(10_000))).toBe('x'.repeat(64))
})
