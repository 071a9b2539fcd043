/** Content-Disposition for any name, as RFC 6266 and RFC 8187 have it. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { contentDisposition } from '#edge/disposition'

test.each([
  ['report.md', 'attachment; filename="report.md"'],
  ['two words.md', 'attachment; filename="two words.md"'],
  [
    'Größe.csv',
    `attachment; filename="Große.csv"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.csv`.replace(
      'Große',
      'Gro_e',
    ),
  ],
  ['a"b\\c;d.md', `attachment; filename="a_b_c_d.md"; filename*=UTF-8''a%22b%5Cc%3Bd.md`],
  [
    "it's 100%(*).md",
    `attachment; filename="it's 100_(*).md"; filename*=UTF-8''it%27s%20100%25%28%2A%29.md`,
  ],
  [
    'a\r\nSet-Cookie: b',
    `attachment; filename="a__Set-Cookie: b"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20b`,
  ],
])('%j', (name, header) => {
  expect(contentDisposition(name)).toBe(header)
})

/** The grammar of the header with these two parameters, and no others. */
const HEADER =
  /^attachment; filename="([ -!#-[\]-~]*)"(?:; filename\*=UTF-8''((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-F]{2})+))?$/

test('of any name the header is of the grammar, and gives the name back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 240 }), (name) => {
      const [, plain, extended] = HEADER.exec(contentDisposition(name)) ?? []
      expect(plain).toBeDefined()
      expect(extended === undefined ? plain : decodeURIComponent(extended)).toBe(
        name.toWellFormed(),
      )
    }),
    { numRuns: 3_000 },
  )
})
