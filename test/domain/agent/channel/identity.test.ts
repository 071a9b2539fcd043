import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { codeIn, type Linking, linkIdentity } from '#domain/agent/channel/identity'
import { CODE_LETTERS, writeUserCode } from '#domain/app/device'
import { at } from '#test/domain/records'
import { runs } from '#test/support/property'

test.each([
  ['BCDF-GHJK', 'BCDFGHJK'],
  ['bcdf-ghjk', 'BCDFGHJK'],
  ['Hello,\n\nBCDF–GHJK\n\nAda', 'BCDFGHJK'],
  ['@Tendril BCDF‑GHJK.', 'BCDFGHJK'],
  ['BCDFGHJK', undefined],
  ['BCDF GHJK', undefined],
  ['BCDF-GHJA', undefined],
  ['BCDF-GHJKL', undefined],
  ['XBCDF-GHJK', undefined],
  ['1BCDF-GHJK', undefined],
  // Letters of other scripts that look alike.
  ['ВCDF-GHJK', undefined],
  [`${' '.repeat(1_000)}BCDF-GHJK`, undefined],
  ['', undefined],
])('%p holds %p', (text, letters) => expect(codeIn(text)).toBe(letters))

test('every code is found as it is shown', () => {
  const code = fc.string({ minLength: 8, maxLength: 8, unit: fc.constantFrom(...CODE_LETTERS) })
  fc.assert(
    fc.property(code, fc.constantFrom('', 'Here: ', 'code:'), (letters, before) =>
      expect(codeIn(before + writeUserCode(letters))).toBe(letters),
    ),
    runs(300),
  )
})

const linking: Linking = {
  id: 'i-1',
  connection_id: 'c-1',
  person_id: 'p-1',
  sender: { id: 'U01', name: 'Ada' },
  direct_to: { to: 'U01' },
  before: undefined,
  now: at(),
}

test('a code links its sender, again and again, but takes the place of nobody', () => {
  const first = linkIdentity(linking)
  expect(first).toMatchObject({
    kind: 'linked',
    identity: { id: 'i-1', external_id: 'U01', person_id: 'p-1', verified_at: at() },
  })
  if (first.kind !== 'linked') throw new Error('not linked')
  const later = {
    ...linking,
    id: 'i-2',
    before: first.identity,
    now: at(60_000),
    sender: { id: 'U01', name: 'Ada L.' },
  }
  expect(linkIdentity(later)).toMatchObject({
    identity: { id: 'i-1', name: 'Ada L.', created_at: at(), verified_at: at(60_000) },
  })
  expect(linkIdentity({ ...later, person_id: 'p-2' })).toEqual({ kind: 'taken' })
})
