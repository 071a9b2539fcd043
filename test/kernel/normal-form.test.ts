import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { normalForm } from '#kernel/normal-form'

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.constantFrom('a', 'e\u0301', '\u0323', '\u0301', 'ﬁ', '가', '\u1100\u1161', ' '))
    .map((parts) => parts.join('')),
)

test.each(['NFC', 'NFKC'] as const)('%s of a text is the form that Unicode defines', (form) => {
  fc.assert(fc.property(text, (any) => normalForm(any, form) === any.normalize(form)))
})

test('up to 64 marks on a letter are put in order; beyond that, the first 64 are ordered apart', () => {
  const marks = (count: number) => '\u0301\u0323'.repeat(count / 2)
  expect(normalForm(`q${marks(64)}`, 'NFC')).toBe(`q${marks(64)}`.normalize('NFC'))
  expect(normalForm(`q${marks(128)}`, 'NFC')).toBe(
    `${`q${marks(64)}`.normalize('NFC')}\u034f${marks(64).normalize('NFC')}`,
  )
})

test('normalising twice changes nothing', () => {
  for (const count of [10, 64, 65, 1_000]) {
    const once = normalForm(`q${'\u0301\u0323'.repeat(count)}`, 'NFC')
    expect(normalForm(once, 'NFC')).toBe(once)
  }
})
