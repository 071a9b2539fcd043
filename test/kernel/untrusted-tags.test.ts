/** Tags around strangers' words, which no text of ours keeps. */
import { expect, test } from 'bun:test'
import { newTagName, tagIn, withoutTags } from '#kernel/untrusted-tags'

const tag = `<${newTagName()}>`
/** Its halves, with something between them. */
const around = (between: string, at = 9): string => tag.slice(0, at) + between + tag.slice(at)

test('a text without its tags has none, though they stand within one another', () => {
  expect(withoutTags(`Lena says ${tag}hello${tag.replace('<', '</')}, > and <b>.`)).toBe(
    'Lena says hello, > and <b>.',
  )
  for (const at of [1, 4, 20, tag.length - 1]) {
    const nested = `a ${around(around(tag, at), at)} b`
    expect([at, withoutTags(nested)]).toEqual([at, 'a  b'])
  }
  expect(withoutTags(`<untrusted-${'0'.repeat(15)}${tag}>`)).toBe(`<untrusted-${'0'.repeat(15)}>`)
})

test('a text of tags within tags is read once', () => {
  let text = tag
  for (let depth = 0; depth < 2_000; depth++) text = around(text)
  expect(withoutTags(text)).toBe('')
  expect(tagIn(withoutTags(`${text}a${text.slice(5)}`))).toBeUndefined()
})
