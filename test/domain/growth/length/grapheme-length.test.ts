import { expect, test } from 'bun:test'
import { GRAPHEME_LIMIT, graphemeLength } from '#domain/growth/length/grapheme-length'

const FAMILY = '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}'

/**
 * How many characters a server of the network counted in each text, PDS 0.5.35. Each stood after a
 * line end, which is none of them.
 */
const counted: [number, string[]][] = [
  [
    1,
    [
      '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}',
      '\u{1f468}\u{1f3fd}\u200d\u{1f680}',
      '\u{1f1ea}',
      'e\u0301',
      '\u0301',
      'a\u0301\u0302\u0303',
      '\u30ab\u3099',
      '\u1100\u1161\u11a8',
      '\u1100\u1100\u1161',
      '\u000d\u000a',
      '\u000d',
      '\u0915\u094d\u0937',
      '\u0915\u094d\u0937\u093f',
      '\u0915\u094d\u200d\u0937',
      '\u09a8\u09cd\u09a4\u09cd\u09b0',
      '\u0d36\u0d4d\u0d30\u0d40',
      '\u0e04\u0e48\u0e33',
      '\u0eb3',
      '\u200d',
      '\u200b',
      '\u2060',
      '\ufeff',
      '\u2615\ufe0f',
      '\u2615\ufe0e',
      '1\ufe0f\u20e3',
      '#\u20e3',
      '\u{1f44d}\u{1f3ff}',
      '\u{1f441}\ufe0f\u200d\u{1f5e8}\ufe0f',
      '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
      '\u{1f3f3}\ufe0f\u200d\u{1f308}',
      '\u{1f469}\u200d\u2764\ufe0f\u200d\u{1f48b}\u200d\u{1f468}',
      '\u0600\u0661',
      '\u06dd\u0661',
      '\ud83d',
      '\ude00',
      '\u0000',
      '\u0007',
      '\u00ad',
      '\u061c',
      '\u2028',
      '\u0f68\u0f7c\u0f7e',
      '\u{11107}\u{11133}\u{11107}',
      '\u0c24\u0c4d\u0c38\u0c4d\u0c28',
      '\u{1faf1}\u{1f3fb}\u200d\u{1faf2}\u{1f3ff}',
      '\u{1fae8}',
      '\u{1fae9}',
      '\u{1fadf}',
      '\u{1f6d8}',
      'a\u20dd',
      '\u0915\u094d\u094d\u0937',
      '\u0915\u0301\u094d\u0937',
      '\u0915\u094d\u0301\u0937',
      '\u0930\u094d\u200d\u0915',
      '\u09b6\u09cd\u09b0\u09c0',
      '\u0a74',
      '\u1e3f',
      '\ufb01',
      '\u2177',
      '\u1160\u1161',
      '\ud7b0\ud7cb',
      '\ua960\u1161',
      '\u200c',
      '\u034f',
      '\u180e',
      '\u{e0001}',
      '\ufff0',
      '\u{10ffff}',
      '\u{1d165}\u{1d16e}',
      'a\u{1d167}',
      '\u0e33',
      '\u0eb3',
      '\u102b',
      '\u1abf',
      '\u0d4e\u0d15',
      '\u{110bd}\u{11083}',
    ],
  ],
  [
    2,
    [
      '\u{1f1ea}\u{1f1fa}\u{1f1e9}\u{1f1ea}',
      '\u{1f1ea}\u{1f1fa}\u{1f1e9}',
      '\uac00\uac01',
      '\u1112\u1161\u11ab\u1100\u1173\u11af',
      '\u000a\u000d',
      '\u000d\u000a\u000d\u000a',
      '\u0915\u094d\u200c\u0937',
      '\u0d9a\u0dca\u200d\u0dc2',
      'a\u200db',
      '\u{1f469}\u200da',
      'a\ud83d',
      '\u1781\u17d2\u1798\u17c2\u179a',
      '\u1b05\u1b13\u1b35',
      '\u{1108d}\u{110b9}\u{1108d}',
      '\u0c95\u0ccd\u0cb7',
      '\u{1f1e6}\u200d\u{1f1e6}',
      '\u094d\u0915',
      '\u0915\u093c\u0916',
      '\u0bb8\u0bcd\u0bb0\u0bc0',
      '\u11a8\u1100',
      'x\u200cy',
      '\u{e0100}a',
      '\u{11003}\u{11005}\u{1107f}',
    ],
  ],
  [3, ['\u0ba4\u0bae\u0bbf\u0bb4\u0bcd', 'a\u{1f469}\u200d\u{1f469}b']],
  [
    4,
    [
      '\u6f22\u5b57\u304b\u306a',
      '\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35',
      '\u1019\u103c\u1014\u103a\u1019\u102c',
    ],
  ],
  [5, ['Z\u0351\u036b\u0313a\u0335l\u0336g\u0337o\u0338']],
  [6, ['\u0a97\u0ac1\u0a9c\u0ab0\u0abe\u0aa4\u0ac0 \u0a95\u0acd\u0ab7']],
]

test.each(counted)('texts in which a server counts %i characters', (count, texts) => {
  for (const text of texts) {
    // The letters keep the bytes from counting for more, and the line end keeps them apart.
    const padding = `${'x'.repeat(GRAPHEME_LIMIT)}\n`
    expect([text, graphemeLength(padding + text) - padding.length]).toEqual([text, count])
  }
})

test.each([
  ['', 0],
  ['Plain words.\nTwo lines.', 23],
  ['e\u0301'.repeat(GRAPHEME_LIMIT), GRAPHEME_LIMIT],
  [FAMILY.repeat(120), 300],
  [FAMILY.repeat(121), 303],
  ['\u6f22'.repeat(300), 300],
  [`x${'\u0301'.repeat(1_500)}`, 301],
])(
  'a text of more than ten bytes for each character counts as a tenth of its bytes',
  (text, length) => {
    expect(graphemeLength(text)).toBe(length)
  },
)

test('a text is within the limit exactly if a server would take it', () => {
  const takes = (text: string): boolean =>
    [...new Intl.Segmenter().segment(text)].length <= GRAPHEME_LIMIT &&
    Buffer.byteLength(text) <= 3_000
  for (const one of ['x', 'e\u0301', '\u6f22', FAMILY, '\r\n', '\u{1f1ea}\u{1f1fa}'])
    for (const count of [119, 120, 121, 299, 300, 301]) {
      const text = one.repeat(count)
      expect([one, count, graphemeLength(text) <= GRAPHEME_LIMIT]).toEqual([
        one,
        count,
        takes(text),
      ])
    }
})
