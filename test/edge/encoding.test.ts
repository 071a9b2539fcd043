import { expect, test } from 'bun:test'
import { encodingOf } from '#edge/encoding'

const CODINGS = ['br', 'gzip', 'identity'] as const

test.each([
  [null, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['GZip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br ; q = 0 , gzip;q=0', 'identity'],
  ['identity, gzip;q=0.5', 'identity'],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['deflate', 'identity'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['br;q=0, *;q=0.1', 'gzip'],
  ['gzip;q=0.001', 'gzip'],
  ['identity;q=0', 'identity'],
  ['gzip;q=nonsense', 'identity'],
  ['gzip;q=2', 'identity'],
  [',,gzip,,', 'gzip'],
])('Accept-Encoding %j is answered with %s', (header, coding) => {
  expect(encodingOf(header, CODINGS)).toBe(coding as (typeof CODINGS)[number])
})
