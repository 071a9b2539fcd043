import { expect, test } from 'bun:test'
import { ALIKE, PRINTS, printsOf } from '#domain/growth/drafting/prints'

const shared = (one: string, other: string): number => {
  const others = new Set(printsOf(other))
  return printsOf(one).filter((print) => others.has(print)).length
}

const POST =
  'Every delay starts at the dock. We counted eleven of fourteen late parcels that had waited there for a van, and nobody had written it down until we drove along.'

test.each([
  ['itself', POST],
  ['other case, quotes and spaces', `  ${POST.toUpperCase().replaceAll(' ', '\n ')}`],
  ['other punctuation', POST.replaceAll('.', '!').replaceAll(',', ' –')],
])('a text has all prints in common with %s', (_, other) => {
  expect(shared(POST, other)).toBe(PRINTS)
})

test.each([
  ['a word changed', POST.replace('fourteen', 'fifteen')],
  ['a sentence end added', `${POST} Now we do.`],
  ['its beginning cut', POST.slice(20)],
])('a text is alike to one with %s', (_, other) => {
  expect(shared(POST, other)).toBeGreaterThanOrEqual(ALIKE)
})

test.each([
  [
    'on the same subject',
    'Late parcels wait at the dock for a van. Nobody counts them, so every week begins with the same surprise and ends with an apology.',
  ],
  [
    'on another subject',
    'Opening hours have changed: from Monday the shop is open from nine to five, and on Saturdays until noon.',
  ],
  ['that is empty', ''],
])('a text is not alike to one %s', (_, other) => {
  expect(shared(POST, other)).toBeLessThan(ALIKE)
})

test('texts without words are told apart', () => {
  expect(shared('🚚🚚🚚', '🚚🚚🚚')).toBe(PRINTS)
  expect(shared('🚚🚚🚚', '☕☕☕')).toBeLessThan(ALIKE)
})

test('texts in scripts without spaces are compared, too', () => {
  const text =
    '配送の遅れはすべて荷さばき場から始まります。十四個のうち十一個がそこで車を待っていました。'
  expect(shared(text, text.replace('十四', '十五'))).toBeGreaterThanOrEqual(ALIKE)
  expect(
    shared(
      text,
      '来週の月曜日から営業時間が変わります。土曜日は正午に閉まりますのでご注意ください。',
    ),
  ).toBeLessThan(ALIKE)
})
