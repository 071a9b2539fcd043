import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fingerprintText } from '#port/network/text'

describe("a network's changes to a text do not change its fingerprint", () => {
  test.each([
    [
      'links are shortened',
      'Read https://example.com/a/long?path=1 now',
      'Read https://t.co/aB3dE now',
    ],
    [
      'a bare domain becomes a link',
      'Notes at example.com/notes, enjoy',
      'Notes at https://t.co/aB3dE, enjoy',
    ],
    [
      'a link to an attachment is put at the end',
      'Look at this',
      'Look at this https://t.co/aB3dE',
    ],
    [
      'a link ends elsewhere than the network says',
      'See https://example.com/a中文',
      'See https://t.co/aB3dE中文',
    ],
    ['letters are composed', 'Cafe\u0301', 'Caf\u00e9'],
    ['line breaks and spaces are collapsed', ' One\r\n\r\ntwo\u00a0 three\t', 'One two three'],
    [
      'a host that is not a domain',
      'From http://localhost:7070/x to you',
      'From https://t.co/aB3dE to you',
    ],
  ])('%s', (_name, sent, shown) => {
    expect(fingerprintText(shown)).toBe(fingerprintText(sent))
  })
})

describe('different texts have different fingerprints', () => {
  test.each([
    ['another word', 'Ship it today', 'Ship it tomorrow'],
    ['another case', 'Ship it', 'ship it'],
    ['another emoji', 'Done 🚀', 'Done 🎉'],
    ['words that only look like a link', 'See package.json', 'See tsconfig.json'],
    ['words after a link', 'See https://example.com one', 'See https://example.com two'],
  ])('%s', (_name, one, two) => {
    expect(fingerprintText(one)).not.toBe(fingerprintText(two))
  })
})

test('a text of links only has an empty fingerprint', () => {
  expect(fingerprintText('https://example.com/a\nexample.org')).toBe('')
})

test('the fingerprint of a fingerprint is itself', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc
      .array(
        fc.constantFrom(
          'a',
          ' ',
          '\n',
          'https://a.com',
          'b.org/x',
          '。',
          '(',
          'e\u0301',
          '.',
          'http://',
        ),
      )
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (sent) => fingerprintText(fingerprintText(sent)) === fingerprintText(sent)),
  )
})
