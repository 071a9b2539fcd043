import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { fileNameOf } from '#kernel/file-name'

test.each([
  ['late-deliveries.md', 'late-deliveries.md'],
  ['Bericht Größe.csv', 'Bericht Größe.csv'],
  ['報告.txt', '報告.txt'],
  ['../../etc/passwd', '_.._etc_passwd'],
  ['..\\..\\boot.ini', '_.._boot.ini'],
  ['C:\\x', 'C__x'],
  ['.bashrc', 'bashrc'],
  ['a\r\nSet-Cookie: b', 'a__Set-Cookie_ b'],
  ['a"; filename="b.exe', 'a_; filename=_b.exe'],
  ['exe\u202Etxt.md', 'exe_txt.md'],
  ['name. . ', 'name'],
  ['...', 'file'],
  [' ', 'file'],
  ['\ud800.md', '\ufffd.md'],
])('%j becomes %j', (given, name) => {
  expect(fileNameOf(given)).toBe(name)
})

test('a long name keeps its ending, and no half of a character', () => {
  expect(fileNameOf(`${'a'.repeat(400)}.markdown`)).toBe(`${'a'.repeat(231)}.markdown`)
  const emoji = fileNameOf(`a${'😀'.repeat(200)}.md`)
  expect([emoji.length <= 240, emoji.isWellFormed(), emoji.endsWith('.md')]).toEqual([
    true,
    true,
    true,
  ])
})

test('any text becomes the name of a file in this folder, once and for all', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (given) => {
      const name = fileNameOf(given)
      expect(name).not.toMatch(/[/\\\p{Cc}]|^\.|^\s|[\s.]$/u)
      expect([name === '', name.length > 240, name.isWellFormed(), fileNameOf(name)]).toEqual([
        false,
        false,
        true,
        name,
      ])
    }),
    { numRuns: 2_000 },
  )
})
