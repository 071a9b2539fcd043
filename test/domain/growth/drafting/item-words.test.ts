import { expect, test } from 'bun:test'
import { hasSameWords, itemWords, searchWords, tagWord } from '#domain/growth/drafting/item-words'

const texts: [what: string, text: string, words: string[]][] = [
  [
    'punctuation and repetition',
    'Launch: the LAUNCH — “launch”, again…',
    ['launch', 'the', 'again'],
  ],
  [
    'numbers, handles and addresses',
    '3 tips for @ada at https://example.com/a_b',
    ['3', 'tips', 'for', 'ada', 'at', 'https', 'example', 'com', 'a', 'b'],
  ],
  ['letters that are written in two ways', 'cafe\u0301 ＣＡＦＥ café', ['café', 'cafe']],
  ['scripts without spaces', '返品期間は30日', ['返品', '期間', 'は', '30', '日']],
  ['other capitals', 'ЁЛКИ Straße', ['ёлки', 'straße']],
  ['nothing to look for', '… 🎉 —', []],
]
test.each(texts)('the words of a text: %s', (_, text, words) =>
  expect(searchWords(text)).toEqual(words),
)

test('a word is known by its first 64 units, and never by half a character', () => {
  expect(searchWords('a'.repeat(100))).toEqual(['a'.repeat(64)])
  expect(searchWords(`${'a'.repeat(63)}𝒳`)[0]!.isWellFormed()).toBe(true)
})

test('an item has the words of its text and its note, and its tags', () => {
  expect(itemWords({ body: 'Ship it', note: 'it waits', tags: ['Q3 Launch', 'ship'] })).toEqual([
    'ship',
    'it',
    'waits',
    '#q3 launch',
    '#ship',
  ])
  expect(tagWord('Q3  launch')).toBe('#q3 launch')
  expect(searchWords('#ship')).toEqual(['ship'])
})

test('words are the same while text, note and tags are', () => {
  const item = { body: 'Ship it', note: null, tags: ['a', 'b'] }
  expect(hasSameWords(item, { ...item, tags: ['a', 'b'] })).toBe(true)
  for (const change of [{ body: 'Ship' }, { note: 'x' }, { tags: ['a'] }, { tags: ['a', 'c'] }])
    expect(hasSameWords(item, { ...item, ...change })).toBe(false)
})
