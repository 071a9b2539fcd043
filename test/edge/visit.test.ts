import { describe, expect, test } from 'bun:test'
import { clientAddressOf, trustIn } from '#edge/visit'

const from = (peer: string | undefined, forwarded: string | undefined, named: string[] = []) =>
  clientAddressOf(
    new Request('http://here/', {
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    }),
    peer,
    trustIn(named),
  )

describe('the address of a client', () => {
  test('is that of the connection, whatever is forwarded, while no proxy is named', () => {
    expect(from('198.51.100.1', '203.0.113.9')).toBe('198.51.100.1')
    expect(from(undefined, '203.0.113.9')).toBe('unknown')
  })

  test('is what a named proxy has written, and nothing that stood there before', () => {
    const named = ['10.0.0.7', '10.1.0.0/16', '2001:db8::/48']
    expect(from('10.0.0.7', '1.2.3.4, 203.0.113.9', named)).toBe('203.0.113.9')
    expect(from('10.0.0.7', '1.2.3.4, 203.0.113.9, 10.1.2.3', named)).toBe('203.0.113.9')
    expect(from('2001:db8::5', '203.0.113.9:4711, 10.1.2.3:80', named)).toBe('203.0.113.9:4711')
    expect(from('::ffff:10.0.0.7', '203.0.113.9', named)).toBe('203.0.113.9')
  })

  test('is that of the connection if somebody else forwards', () => {
    for (const peer of ['10.0.0.8', '10.2.0.1', '2001:db8:1::5', '::1'])
      expect(from(peer, '203.0.113.9', ['10.0.0.7', '10.1.0.0/16', '2001:db8::/48'])).toBe(peer)
  })

  test('is a proxy where all are, and the proxy itself where it forwards nothing', () => {
    expect(from('10.0.0.7', '10.0.0.8, 10.0.0.9', ['10.0.0.0/24'])).toBe('10.0.0.8')
    expect(from('10.0.0.7', undefined, ['10.0.0.7'])).toBe('10.0.0.7')
  })
})
