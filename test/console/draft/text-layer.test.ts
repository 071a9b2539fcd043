/** A text as coloured pieces. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { weightedLength } from '#domain/growth/length/weighted-length'
import { layerPieces, overFrom } from '#src/console/inbox/draft/text-layer'

const rules = { limit: 280, measure: weightedLength }

test('links, hashtags and what nobody sees are pieces of their own', () => {
  const pieces = layerPieces('See a.example.com #late\u200b\u202e!', rules)
  expect(pieces.map(({ text, link, tag, unseen }) => [text, link, tag, unseen])).toEqual([
    ['See ', false, false, undefined],
    ['a.example.com', true, false, undefined],
    [' ', false, false, undefined],
    ['#late', false, true, undefined],
    ['\u200b\u202e', false, false, 'zero-width space, right-to-left override'],
    ['!', false, false, undefined],
  ])
})

test('what is beyond the limit begins with a whole character', () => {
  expect(overFrom('a'.repeat(281), rules)).toBe(280)
  expect(overFrom(`${'a'.repeat(279)}😀`, rules)).toBe(279)
  expect(overFrom('short', rules)).toBe(5)
  expect(overFrom('a'.repeat(999), { limit: 10, measure: undefined })).toBe(999)
})

test('the pieces of any text are the text, and those within the limit fit', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      const pieces = layerPieces(text, { ...rules, limit: 40 })
      expect(pieces.map((piece) => piece.text).join('')).toBe(text)
      const within = pieces
        .filter(({ over }) => !over)
        .map((piece) => piece.text)
        .join('')
      expect(weightedLength(within)).toBeLessThanOrEqual(40)
    }),
    { numRuns: 200 },
  )
})
