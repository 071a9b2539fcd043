/** Texts compared word by word. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type DiffPart, wordDiff } from '#domain/agent/word-diff'
import { runs } from '#test/support/property'

const shown = (before: string, after: string): string =>
  wordDiff(before, after)!
    .map(({ kind, text }) => ({ same: text, added: `[+${text}]`, removed: `[-${text}]` })[kind])
    .join('')

const cases: [before: string, after: string, diff: string][] = [
  ['', '', ''],
  ['', 'New words', '[+New words]'],
  ['Old words', '', '[-Old words]'],
  ['Ship on Friday, early.', 'Ship on Monday, early.', 'Ship on [-Friday, ][+Monday, ]early.'],
  ['one two three', 'one three', 'one [-two ]three'],
  ['one three', 'zero one two three', '[+zero ]one [+two ]three'],
  ['a b c d', 'b a c d', '[-a ]b [+a ]c d'],
]
test.each(cases)('%j to %j', (before, after, diff) => {
  expect(shown(before, after)).toBe(diff)
})

test('other spaces are no change', () => {
  expect(wordDiff('the same\n\nwords', 'the same words')).toEqual([
    { kind: 'same', text: 'the same words' },
  ])
})

const textOf = (parts: readonly DiffPart[], without: DiffPart['kind']) =>
  parts.flatMap(({ kind, text }) =>
    kind === without ? [] : text.split(/\s+/).filter((word) => word !== ''),
  )

test('what is not removed is the second text, what is not added are the words of the first, and no shorter way exists for few words', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 })
    .map((words) => words.join(' '))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const parts = wordDiff(before, after)!
      expect(textOf(parts, 'removed')).toEqual(after.split(' ').filter(Boolean))
      expect(textOf(parts, 'added')).toEqual(before.split(' ').filter(Boolean))
      expect(
        parts.filter(({ kind }) => kind === 'same').flatMap((part) => textOf([part], 'added')),
      ).toHaveLength(longest(before, after))
    }),
    runs(500),
  )
})

/** By trying all choices. */
const longest = (before: string, after: string): number => {
  const [old, now] = [before, after].map((text) => text.split(' ').filter(Boolean)) as [
    string[],
    string[],
  ]
  const from = (i: number, j: number): number => {
    if (i === old.length || j === now.length) return 0
    return old[i] === now[j] ? 1 + from(i + 1, j + 1) : Math.max(from(i + 1, j), from(i, j + 1))
  }
  return from(0, 0)
}

test('texts that differ in too many words are not compared', () => {
  const words = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, n) => `${prefix}${n}`).join(' ')
  expect(wordDiff(words('a', 4_001), words('b', 4_001))).toBeUndefined()
  expect(wordDiff(words('a', 9_000), `${words('a', 9_000)} end`)?.at(-1)).toEqual({
    kind: 'added',
    text: 'end',
  })
})

test('no more words are compared than there is room for, of one text and of all texts of an answer', () => {
  const words = (count: number, letter: string) =>
    Array.from({ length: count }, (_, index) => letter + index).join(' ')
  expect(wordDiff(words(2_500, 'a'), words(2_500, 'b'))).toBeUndefined()
  const room = { pairs: 10_000 }
  expect(wordDiff(words(90, 'a'), words(100, 'b'), room)).toHaveLength(2)
  expect(room.pairs).toBe(1_000)
  expect(wordDiff(words(90, 'a'), words(100, 'b'), room)).toBeUndefined()
  expect(wordDiff(words(10, 'a'), words(100, 'b'), room)).toHaveLength(2)
})
