/** What nobody sees of a text, and what writing needs. */
import { describe, expect, spyOn, test } from 'bun:test'
import { textsIn } from '#kernel/json-value'
import {
  codesOf,
  firstUnseen,
  replaceUnseen,
  unseenCount,
  unseenWarning,
  withCodes,
} from '#kernel/unseen'

const unseen: [what: string, text: string, shown: string][] = [
  ['a reversed line', 'a\u202eb', 'a[U+202E]b'],
  ['an isolate', 'a\u2066b\u2069', 'a[U+2066]b[U+2069]'],
  ['a mark of direction', 'a\u200eb\u200fc\u061c', 'a[U+200E]b[U+200F]c[U+061C]'],
  ['a zero-width space', 'a\u200bb', 'a[U+200B]b'],
  ['several of one kind', '\u200b\u200b\u200b', '[U+200B ×3]'],
  ['tags', 'x\u{e0041}\u{e0042}', 'x[U+E0041][U+E0042]'],
  ['tags that spell no flag', '🏴\u{e0068}\u{e0069}\u{e007f}', '🏴[U+E0068][U+E0069][U+E007F]'],
  ['tags after a flag', '🏴󠁧󠁢󠁥󠁮󠁧󠁿\u{e0041}', '🏴󠁧󠁢󠁥󠁮󠁧󠁿[U+E0041]'],
  ['a soft hyphen', 'a\u00adb', 'a[U+00AD]b'],
  ['a vowel separator', 'a\u180eb', 'a[U+180E]b'],
  [
    'a word joiner and its like',
    '\u2060\u2061\u2062\u2063\u2064',
    '[U+2060][U+2061][U+2062][U+2063][U+2064]',
  ],
  ['a byte order mark', '\ufeffa', '[U+FEFF]a'],
  ['annotations', 'a\ufff9b\ufffac\ufffb', 'a[U+FFF9]b[U+FFFA]c[U+FFFB]'],
  [
    'controls',
    '\u0000\u0007\u001b[31m\u007f\u0085',
    '[U+0000][U+0007][U+001B][31m[U+007F][U+0085]',
  ],
  ['separators of lines', 'a\u2028b\u2029c', 'a[U+2028]b[U+2029]c'],
  ['a return without a line feed', 'a\rb', 'a[U+000D]b'],
  ['a variation selector on a letter', 'a\ufe0f', 'a[U+FE0F]'],
  ['a second one on an emoji', '😀\ufe0f\ufe0f', '😀\ufe0f[U+FE0F]'],
  ['one on a key that is none', '1\ufe0f', '1[U+FE0F]'],
  ['one of the further ones', '葛\u{e0100}', '葛[U+E0100]'],
  ['a joiner between digits', '1\u200d2', '1[U+200D]2'],
  ['joiners between Latin letters', 'a\u200db\u200cc', 'a[U+200D]b[U+200C]c'],
  ['a joiner at the end of an emoji', '👩\u200d', '👩[U+200D]'],
  ['a joiner between an emoji and a letter', '👩\u200da', '👩[U+200D]a'],
  ['two joiners between letters that take one', 'ی\u200c\u200cخ', 'ی[U+200C ×2]خ'],
  ['a filler', 'a\u3164b', 'a[U+3164]b'],
  ['an empty Braille cell', 'a\u2800b', 'a[U+2800]b'],
  ['what is no character', 'a\ufdd0b\uffff\u{10fffe}', 'a[U+FDD0]b[U+FFFF][U+10FFFE]'],
  ['a note without a head', '\u{1d159}', '[U+1D159]'],
  ['half a character', 'a\ud800b', 'a[U+D800]b'],
]

const written: [what: string, text: string][] = [
  ['lines and tabs', 'a\nb\tc\r\nd'],
  ['a family', '👨‍👩‍👧‍👦'],
  ['flags', '🏳️‍🌈 🏴‍☠️ 🇩🇪'],
  ['England, Scotland and Wales', '🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴󠁧󠁢󠁳󠁣󠁴󠁿🏴󠁧󠁢󠁷󠁬󠁳󠁿'],
  ['a kiss with two colours of skin', '👩🏽‍❤️‍💋‍👨🏻'],
  ['an athlete', '⛹🏿‍♀️'],
  ['keycaps', '1️⃣ #️⃣ *️⃣'],
  ['styles of emoji and text', '❤️ ☎︎ ©️ ™️'],
  ['Persian', 'می‌خواهم'],
  ['Arabic with a vowel before the joiner', 'المَ‌شى'],
  ['Hindi', 'क्‍ष'],
  ['Bengali', 'র‍্যা'],
  ['Sinhala', 'ක්‍රීඩා'],
  ['Malayalam', 'അവന്‍റെ'],
  ['signs around numerals', '۝ ؀'],
  ['Hebrew, and combining marks', 'שלום e\u0301'],
]

test.each(unseen)('%s is shown as a mark', (_, text, shown) => {
  expect(withCodes(text)).toBe(shown)
  expect(unseenCount(text)).toBeGreaterThan(0)
  expect(withCodes(shown)).toBe(shown)
})

test.each(written)('what is in %s is no unseen character', (_, text) => {
  expect([unseenCount(text), firstUnseen(text), withCodes(text)]).toEqual([0, undefined, text])
})

describe('a text', () => {
  test('says where its first unseen character is, and the rest stays as it was', () => {
    expect(firstUnseen('🎉 a\u2066\u202e')).toEqual({ at: 4, character: '\u2066' })
    const parts: string[] = []
    const kept = (part: string): string => {
      parts.push(part)
      return part
    }
    expect(replaceUnseen('a\u200bb\u202e\u2066c', kept, kept)).toBe('a\u200bb\u202e\u2066c')
    expect(parts).toEqual(['a', '\u200b', 'b', '\u202e\u2066', 'c'])
    expect(codesOf('')).toBe('')
  })

  test('is warned of with the count', () => {
    expect(unseenWarning('This page', 1)).toStartWith(
      'This page has 1 character that nobody would see',
    )
    expect(unseenWarning('This page', 1_200)).toStartWith(
      'This page has 1,200 characters that nobody would see',
    )
  })

  test('is found in values with its place, in names of fields, too', () => {
    expect(
      [...textsIn({ a: [{ b: 'x' }], c: 1, d: null })].map(({ path, text }) => [
        path.join('.'),
        text,
      ]),
    ).toEqual([
      ['a', 'a'],
      ['a.0.b', 'b'],
      ['a.0.b', 'x'],
      ['c', 'c'],
      ['d', 'd'],
    ])
  })
})

/** How many characters are looked at. */
const stepsOf = (text: string): number => {
  const looks = spyOn(String.prototype, 'codePointAt')
  try {
    unseenCount(text)
    return looks.mock.calls.length
  } finally {
    looks.mockRestore()
  }
}

test.each([
  '\u200b',
  'a\u200b',
  '👩\u200d',
  '👩🏽\ufe0f',
  '🏴\u{e0067}',
  'ب\u200c',
  '❤\ufe0f\ufe0f',
  '\r',
  '1\ufe0f',
])('a hostile text of %p that is twice as long takes twice the steps', (unit) => {
  const [once, twice] = [stepsOf(unit.repeat(2_000)), stepsOf(unit.repeat(4_000))]
  expect(once).toBeGreaterThan(0)
  expect(twice).toBeLessThanOrEqual(2 * once + 4)
  expect(twice).toBeLessThanOrEqual(3 * 4_000 * unit.length)
})
