/** Text on a terminal: its width, where it is cut, and that it cannot control the terminal. */
import { describe, expect, test } from 'bun:test'
import { columnsFor, tableLines } from '#cli/table'
import { escapeUnseen, harmless, truncate, warnOfUnseen, widthOf } from '#cli/text'

const ID = '019a0000-0000-7000-8000-000000000001'

/** Texts and the columns that they take on a terminal. */
const widths: [string, number][] = [
  ['abc', 3],
  ['', 0],
  ['漢字', 4],
  ['한국어', 6],
  ['\u1112\u1161\u11ab', 2],
  ['ｶﾞ', 2],
  ['é', 1],
  ['e\u0301', 1],
  ['a\u0308\u0323', 1],
  ['\u200b', 0],
  ['👍🏽', 2],
  ['👩‍🚀', 2],
  ['👨‍👩‍👧‍👦', 2],
  ['🇩🇪', 2],
  ['1\ufe0f\u20e3', 2],
  ['☺️', 2],
  ['“—…”', 4],
  ['עברית', 5],
]

test.each(widths)('%p is %i columns wide', (text, width) => {
  expect(widthOf(text)).toBe(width)
})

describe('columns line up', () => {
  const others: [string, number][] = [
    ['\u001b[31mred\u001b[0m', 26],
    ['\u001b]8;;https://a.example\u0007link\u001b]8;;\u0007', 61],
    ['a\tb', 3],
    ['a\nb', 5],
  ]
  // Nothing is shown of it by itself, and in a cell it is a mark.
  const cells = widths.map(([text, wide]): [string, number] => [text, text === '\u200b' ? 8 : wide])
  const rows = [...cells, ...others].map(([name, wide], index) => ({
    id: ID,
    name: `${name}|`,
    wide,
    created_at: `end${index}`,
  }))
  const lines = tableLines(rows, columnsFor(rows))

  test.each(rows.map(({ name, wide }, index) => [name, wide, lines[index]!] as const))(
    'after %p',
    (_, wide, line) => {
      const [shown, after] = [line.slice(0, line.indexOf('|')), line.slice(line.indexOf('|') + 1)]
      expect(widthOf(shown)).toBe(ID.length + 2 + wide)
      const spaces = /^ +/.exec(after)![0].length
      expect(wide + spaces).toBe(61 + 2)
    },
  )

  test('and no cell can control the terminal', () => {
    expect(lines.join('')).not.toMatch(/\p{Cc}/u)
  })
})

test('a cell is cut between characters, never within one', () => {
  const cases: [string, number, string][] = [
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['🇩🇪🇫🇷🇮🇹', 5, '🇩🇪🇫🇷…'],
    ['🇩🇪🇫🇷🇮🇹', 4, '🇩🇪…'],
    ['👍🏽👍🏽', 3, '👍🏽…'],
    ['abc', 1, '…'],
    ['漢字', 1, '…'],
    ['漢字漢字', 4, '漢…'],
    ['abcdef', 4, 'abc…'],
    ['abc', 3, 'abc'],
  ]
  for (const [text, width, expected] of cases) expect(truncate(text, width)).toBe(expected)
})

test('text cannot control a terminal', () => {
  expect(harmless('a\u001b]0;x\u0007\rb\u202ec\nd')).toBe(
    'a[U+001B]]0;x[U+0007][U+000D]b[U+202E]c\nd',
  )
})

test('what nobody would see is shown as a mark and counted, in tables, records and JSON, and nothing is said of what writing needs', () => {
  const told = (value: unknown): string => {
    const said: string[] = []
    warnOfUnseen(
      { write: (text) => void said.push(text), pass: async () => {}, columns: 80, colour: false },
      value,
    )
    return said.join('')
  }
  const hidden = { body: 'pay\u202e now\u200b\u200b', tags: ['\u{e0041}'] }
  expect(harmless(hidden.body)).toBe('pay[U+202E] now[U+200B ×2]')
  expect(escapeUnseen(JSON.stringify(hidden))).toBe(
    '{"body":"pay\\u202e now\\u200b\\u200b","tags":["\\udb40\\udc41"]}',
  )
  expect(JSON.parse(escapeUnseen(JSON.stringify(hidden)))).toEqual(hidden)
  expect(told(hidden)).toContain('has 4 characters that nobody would see')
  for (const text of [
    '👨‍👩‍👧‍👦 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    'می‌خواهم',
    'two\nlines\tand a tab',
  ])
    expect([harmless(text), told([text])]).toEqual([text, ''])
})
