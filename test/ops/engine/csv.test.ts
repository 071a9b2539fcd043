/**
 * CSV for spreadsheets, read back by a parser that follows RFC 4180 and by readers that split at
 * semicolons.
 */
import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { csvLine } from '#ops/engine/csv'

const read = (text: string): string[][] => parse(text, { relax_column_count: true })
/** Splits at semicolons, and treats quotes as text unless a cell begins with one. */
const readAtSemicolons = (text: string): string[][] =>
  parse(text, { delimiter: ';', relax_quotes: true, relax_column_count: true })
/** The crudest reader: every line break and semicolon ends a cell, quoted or not. */
const readCrudely = (text: string): string[] =>
  text.split(/[;\uff1b\r\n]/).map((cell) => cell.replace(/^"+/, ''))

const FORMULA = /^[ \u00a0\u3000]*[=+\-@\t\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212]/

const roundTrip = (value: unknown): string => read(csvLine(['x', value, 'y']))[0]![1]!

describe('text that begins like a formula becomes plain text', () => {
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
    expect(roundTrip(text)).toStartWith("'")
    expect(roundTrip(text)).not.toMatch(FORMULA)
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
  ])('and so does a cell after a semicolon or a line break: %j', (text, safe) => {
    expect(roundTrip(text)).toBe(safe)
  })
})

test.each([
  'plain',
  'a-b',
  'a;b',
  '1;2',
  'x = y',
  'mail@example.com',
  "it's",
  'a, "b"\r\nc',
  '2026-11-22',
  '5',
  '',
])('other text is unchanged: %j', (text) => {
  expect(roundTrip(text)).toBe(text)
})

test.each([
  [-5, '-5'],
  [0, '0'],
  [1.5, '1.5'],
  [true, 'true'],
  [null, ''],
  [undefined, ''],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
])('values that are not text are unchanged: %p', (value, text) => {
  expect(roundTrip(value)).toBe(text)
})

test('objects are written as their JSON, without a formula after a semicolon', () => {
  const value = {
    note: 'a;=HYPERLINK("https://evil.example")',
    more: ['x；＠y', { 'k;-1': '=1' }],
    n: -5,
  }
  expect(JSON.parse(roundTrip(value))).toEqual(value)
  for (const cell of readCrudely(csvLine([value]))) expect(cell).not.toMatch(FORMULA)
})

const nasty = fc.string({
  unit: fc.constantFrom(...'ab ;；,"\'=+-@＝＋－＠−\t\r\n{}', '\u00a0', '\u3000'),
  maxLength: 12,
})

test('no reader finds a formula in any row, and every text can be recovered', () => {
  fc.assert(
    fc.property(fc.array(nasty, { minLength: 1, maxLength: 4 }), fc.integer(), (texts, count) => {
      const line = csvLine([...texts, count, { texts }])
      const row = read(line)
      expect(row).toHaveLength(1)
      expect(
        row[0]!
          .slice(0, texts.length)
          .map((cell, index) => cell.replaceAll("'", '') === texts[index]!.replaceAll("'", '')),
      ).toEqual(texts.map(() => true))
      expect([row[0]!.at(-2), JSON.parse(row[0]!.at(-1)!)]).toEqual([String(count), { texts }])
      const cells = [
        ...row[0]!.slice(0, -2),
        ...readAtSemicolons(csvLine([...texts, 1, { texts }])).flat(),
        ...readCrudely(csvLine(texts)),
      ]
      for (const cell of cells) expect(cell).not.toMatch(FORMULA)
    }),
  )
})
