/** Tables for spreadsheets, read back by a CSV parser, as RFC 4180 has them and as those read them that split at semicolons. */
import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvLine } from '#ops/csv'

const read = (text: string): string[][] => parse(text, { relax_column_count: true })
/** Splits at semicolons, and takes quotes for text unless a cell begins with one. */
const readAtSemicolons = (text: string): string[][] => parse(text, { delimiter: ';', relax_quotes: true, relax_column_count: true })
/** The worst reader: every line break and semicolon ends a cell, quotes or not. */
const readRudely = (text: string): string[] => text.split(/[;\uff1b\r\n]/).map((cell) => cell.replace(/^"+/, ''))

const FORMULA = /^[ \u00a0\u3000]*[=+\-@\t\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212]/

const shown = (value: unknown): string => read(csvLine(['x', value, 'y']))[0]![1]!

describe('text that begins as a formula does is text', () => {
  test.each([
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '＝1+1',
    '＋1',
    '－1',
    '＠SUM(A1)',
    '﹦1',
    '﹢1',
    '﹣1',
    '﹫x',
    '−1',
    ' =1',
  ])('%j', (text) => {
    expect(shown(text)).toStartWith("'")
    expect(shown(text)).not.toMatch(FORMULA)
  })

  test.each([
    ['a;=1+1', "a;'=1+1"],
    ['a; @x', "a;' @x"],
    ['a;;-1', "a;;'-1"],
    ['a；＝1', "a；'＝1"],
    ['=1;=2', "'=1;'=2"],
    ['a\n=1', "a\n'=1"],
    ['a\r\n+1', "a\r\n'+1"],
    ['He said ";=1"', `He said ";'=1"`],
  ])('and so is a cell behind a semicolon or a line break: %j', (text, safe) => {
    expect(shown(text)).toBe(safe)
  })
})

test.each(['plain', 'a-b', 'a;b', '1;2', 'x = y', 'mail@example.com', "it's", 'a, "b"\r\nc', '2026-11-22', '5', ''])(
  'other text stays as it is: %j',
  (text) => {
    expect(shown(text)).toBe(text)
  },
)

test.each([
  [-5, '-5'],
  [0, '0'],
  [1.5, '1.5'],
  [true, 'true'],
  [null, ''],
  [undefined, ''],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
])('what is no text is not changed: %p', (value, text) => {
  expect(shown(value)).toBe(text)
})

test('objects stay the JSON that they are, without a formula behind a semicolon', () => {
  const value = { note: 'a;=HYPERLINK("https://evil.example")', more: ['x；＠y', { 'k;-1': '=1' }], n: -5 }
  expect(JSON.parse(shown(value))).toEqual(value)
  for (const cell of readRudely(csvLine([value]))) expect(cell).not.toMatch(FORMULA)
})

const nasty = fc.string({
  unit: fc.constantFrom(...'ab ;；,"\'=+-@＝＋－＠−\t\r\n{}', '\u00a0', '\u3000'),
  maxLength: 12,
})

test('whatever a row holds, no reader finds a formula in it, and every text can be had back', () => {
  fc.assert(
    fc.property(fc.array(nasty, { minLength: 1, maxLength: 4 }), fc.integer(), (texts, count) => {
      const line = csvLine([...texts, count, { texts }])
      const row = read(line)
      expect(row).toHaveLength(1)
      expect(row[0]!.slice(0, texts.length).map((cell, index) => cell.replaceAll("'", '') === texts[index]!.replaceAll("'", ''))).toEqual(
        texts.map(() => true),
      )
      expect([row[0]!.at(-2), JSON.parse(row[0]!.at(-1)!)]).toEqual([String(count), { texts }])
      const cells = [...row[0]!.slice(0, -2), ...readAtSemicolons(csvLine([...texts, 1, { texts }])).flat(), ...readRudely(csvLine(texts))]
      for (const cell of cells) expect(cell).not.toMatch(FORMULA)
    }),
  )
})
