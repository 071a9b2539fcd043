import { expect, test } from 'bun:test'
import { MARKS, placesOfMarks, spacedWords, withMarks } from '#kernel/spacing'

test('words of scripts without spaces are set apart, and ASCII stays', () => {
  expect(spacedWords('Refunds: 30 days, "e".')).toBe('Refunds: 30 days, "e".')
  expect(spacedWords('返品期間は30日').split(/ +/)).toContain('返品')
  expect(spacedWords('ประเทศไทยสวยงาม').trim().split(/ +/)).toContain('สวยงาม')
})

const plain: [what: string, text: string, spaced: string][] = [
  ['quotation marks and dashes', '“Fine”—or «not»…', ' Fine  or  not  '],
  ['apostrophes as in print', 'O’Reilly', 'O Reilly'],
  ['spaces that do not break', '30\u00A0days', '30 days'],
  ['accents of their own', 'cafe\u0301', 'café'],
  ['soft hyphens and marks of direction', 're\u00ADfund \u202Aleft\u202C', 'refund left'],
  ['pictures', '😀late ❤\uFE0Fsoon', '  late  soon'],
]
test.each(plain)(
  'a text is plain without %s, and marks are found in it as it was',
  (_, text, spaced) => {
    expect(spacedWords(text)).toBe(spaced)
    const marked = spaced.replace(/[\p{L}\p{N}]+/gu, '[$&]')
    const found = placesOfMarks(text, marked, ['[', ']']).map(({ start, end }) =>
      spacedWords(text.slice(start, end)).trim(),
    )
    expect(found).toEqual(spaced.trim().split(/ +/))
  },
)

test('marks are found in the text as it was', () => {
  const text = '返品期間 is a refund period'
  const marked = spacedWords(text).replace('返品', '[返品]').replace('refund', '[refund]')
  expect(
    placesOfMarks(text, marked, ['[', ']']).map(({ start, end }) => text.slice(start, end)),
  ).toEqual(['返品', 'refund'])
})

test('there are none if anything else has changed', () => {
  expect(placesOfMarks('a refund', 'a [refund', ['[', ']'])).toEqual([])
  expect(placesOfMarks('a [refund]', '[a] [refund]', ['[', ']'])).toEqual([])
  expect(placesOfMarks('a refund', '[a] ref', ['[', ']'])).toEqual([])
})

test('a text gets the marks of what was found in it, without the spaces between its words', () => {
  const [open, close] = MARKS
  const text = '返品はrefund、early.'
  const marked = ` ${open}返品${close} は ${open}refund${close}、early.`
  expect(withMarks(text, marked)).toBe(`${open}返品${close}は${open}refund${close}、early.`)
  expect(withMarks(text, `other ${open}text${close}`)).toBe(text)
})
