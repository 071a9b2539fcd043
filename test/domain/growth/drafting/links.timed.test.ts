import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findLinks } from '#domain/growth/drafting/links'
import { weightedLength } from '#domain/growth/length/weighted-length'
import { fingerprintText } from '#port/network/text'
import { processorTime } from '#test/support/processor-time'

const LONGEST = 25_000
const fill = (unit: string, before = ''): string =>
  (before + unit.repeat(Math.ceil(LONGEST / unit.length))).slice(0, LONGEST)

/** Repetitions of pieces of links, some of them long, which make a pattern start over and over. */
const shapes: fc.Arbitrary<string> = (() => {
  const piece = fc.constantFrom(
    ...[
      'a',
      'é',
      'ü.',
      'ñb',
      'x',
      '.',
      '.com',
      '.co',
      '.みんな',
      '.xn--p1',
      '-',
      '_',
      '/',
      ' ',
      '(',
      ')',
      '@',
      '#',
      '?',
      '!',
      '=',
      ':1',
    ],
    ...[
      'http://',
      'https://t.co/',
      't.co',
      'あ',
      '例え',
      'b'.repeat(62),
      'é'.repeat(63),
      '1\ufe0f',
      '😀',
      '👨\u200d',
      '🇪',
      '\u0301\u0323',
    ],
  )
  const repeated = fc
    .tuple(piece, fc.constantFrom(1, 1, 2, 21, 63, 64))
    .map(([text, times]) => text.repeat(times))
  const label = fc
    .tuple(fc.constantFrom('é', 'a', 'ɏ', 'éa', 'あ'), fc.integer({ min: 1, max: 70 }))
    .map(([text, times]) => `${text.repeat(times)}.`)
  const unit = fc
    .array(fc.oneof(repeated, label), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.join(''))
  return fc.tuple(unit, fc.oneof(fc.constant(''), unit)).map(([text, before]) => fill(text, before))
})()

describe('hostile text', () => {
  test('no two bare domains are searched for in the same word', () => {
    const inWord = /[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f_./-]$/
    const behindTag = /[@#$][A-Za-z0-9]*[\u00c0-\u024f]$/
    fc.assert(
      fc.property(shapes, (text) => {
        const normal = text.slice(0, 2_000).normalize('NFC')
        for (const { start } of findLinks(normal)) {
          const before = normal.slice(0, start)
          if (!/^https?:/i.test(normal.slice(start)))
            expect(inWord.test(before) && !behindTag.test(before)).toBeFalse()
        }
      }),
    )
  })

  const cost = (text: string): number =>
    processorTime(() => {
      weightedLength(text)
      fingerprintText(text)
    })

  /**
   * Plain words take constant time per character; so does the text, if it takes at most a fixed
   * multiple of that.
   */
  const SLACK = 60
  const plain = cost(fill('Notes at example.com say more. '))
  const known = ['é'.repeat(63), 'ɏ'.repeat(63), 'éé', 'éa'].map((label) => fill(`${label}.`))

  test.each([...known, fill('\u0301\u0323', 'a')])(
    'known shape %# costs about as much as plain words',
    (text) => {
      expect(cost(text)).toBeLessThan(plain * SLACK)
    },
  )

  test('any shape costs about as much as plain words', () => {
    fc.assert(
      fc.property(shapes, (text) => cost(text) < plain * SLACK),
      { numRuns: 150 },
    )
  })
})
