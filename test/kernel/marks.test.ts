/** Marks around strangers' words, which no text of ours keeps. */
import { expect, test } from 'bun:test'
import { markIn, newMarkName, withoutMarks } from '#kernel/marks'

const mark = `<${newMarkName()}>`
/** Its halves, with something between them. */
const around = (between: string, at = 9): string => mark.slice(0, at) + between + mark.slice(at)

test('a text without its marks has none, though they stand within one another', () => {
  expect(withoutMarks(`Lena says ${mark}hello${mark.replace('<', '</')}, > and <b>.`)).toBe('Lena says hello, > and <b>.')
  for (const at of [1, 4, 20, mark.length - 1]) {
    const nested = `a ${around(around(mark, at), at)} b`
    expect([at, withoutMarks(nested)]).toEqual([at, 'a  b'])
  }
  expect(withoutMarks(`<untrusted-${'0'.repeat(15)}${mark}>`)).toBe(`<untrusted-${'0'.repeat(15)}>`)
})

test('a text of marks within marks is read once', () => {
  let text = mark
  for (let depth = 0; depth < 2_000; depth++) text = around(text)
  expect(withoutMarks(text)).toBe('')
  expect(markIn(withoutMarks(`${text}a${text.slice(5)}`))).toBeUndefined()
})
