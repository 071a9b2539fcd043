import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { PASSAGE_LENGTH, type Passage, passagesOf } from '#domain/agent/knowledge/passages'

const cut = (content: string, isMarkdown = true): Passage[] =>
  [...passagesOf(content, isMarkdown)].flatMap((one) => one ?? [])
/** The headings over each passage, and its text. */
const shown = (content: string, isMarkdown = true) =>
  cut(content, isMarkdown).map(({ path, start, end }) => [
    path.join(' › '),
    content.slice(start, end),
  ])

describe('Markdown', () => {
  test('is cut by headings, whose path each passage has', () => {
    expect(shown('Before.\n\n# One\n\nText.\n\n## Two\n\nMore.\n\n# Three\nLast.\n')).toEqual([
      ['', 'Before.'],
      ['One', '# One\n\nText.'],
      ['One › Two', '## Two\n\nMore.'],
      ['Three', '# Three\nLast.'],
    ])
  })

  const headings: [what: string, content: string, paths: string[]][] = [
    ['underlined', 'One\n===\nText.\n\nTwo\n---\nMore.', ['One', 'One › Two']],
    ['of several lines, underlined', 'One\nand more\n===\nText.', ['One and more']],
    ['closed by #', '## One ##   \nText.', ['One']],
    ['with formatting', '# The `code` of **bold**\nText.', ['The code of bold']],
    ['indented by three', '   # One\nText.', ['One']],
    ['with a carriage return', '# One\r\nText.\r\n', ['One']],
    ['after a byte order mark', '\uFEFF# One\nText.', ['One']],
    ['with # and spaces in the middle', '# One  # two  ##  \nText.', ['One # two']],
    [
      'after a level that is left out',
      '# One\n### Three\nText.\n## Two\nMore.',
      ['One › Three', 'One › Two'],
    ],
    ['empty', '#\nText.', ['']],
  ]
  test.each(headings)('has headings %s', (_, content, paths) => {
    expect(cut(content).map(({ path }) => path.join(' › '))).toEqual(paths)
  })

  const others: [what: string, content: string][] = [
    ['in a fence', '```\n# No\n```\nText.'],
    ['in a fence of tildes with backticks in it', '~~~~ js\n# No\n```\n~~~\n# No\n~~~~\nText.'],
    ['in a fence that never ends', '```\n# No\n\n# No'],
    ['in a comment', '<!-- a\n# No\n-->\nText.'],
    ['in a script', '<script>\n# No\n</script>\nText.'],
    ['indented by four', '    # No\nText.'],
    ['without a space', '#no\nText.'],
    ['of seven', '####### No\nText.'],
    ['quoted', '> # No\n\nText.'],
    ['in a list, underlined', '- No\n---\nText.'],
    ['a line across', 'Text.\n\n---\n\nText.'],
  ]
  test.each(others)('has no heading %s', (_, content) => {
    expect(cut(content).map(({ path }) => path)).toEqual(cut(content).map(() => []))
    expect(cut(content).length).toBeGreaterThan(0)
  })

  test('puts a heading without text of its own before the next one', () => {
    expect(shown('# One\n\n## Two\n\n### Three\n\nText.')).toEqual([
      ['One › Two › Three', '# One\n\n## Two\n\n### Three\n\nText.'],
    ])
  })

  test('of markup alone has no passages', () => {
    expect(cut('# \n\n---\n\n***\n\n```\n```\n> >\n- \n')).toEqual([])
  })
})

describe('a long text', () => {
  const sentence = 'The quick brown fox jumps over the lazy dog. '

  test('is cut after a paragraph, without repeating', () => {
    const paragraph = sentence.repeat(14).trim()
    const content = `${paragraph}\n\n${paragraph}\n\n${paragraph}`
    expect(shown(content, false)[0]).toEqual(['', paragraph])
  })

  test('is cut after a sentence, which the next passage repeats', () => {
    const content = sentence.repeat(100)
    const [first, second] = cut(content, false)
    expect(content.slice(first!.start, first!.end)).toEndWith('dog.')
    expect(content.slice(second!.start, first!.end)).toBe(sentence.trim())
  })

  test('without sentences is cut between words, and without these between characters', () => {
    const family = '👩‍👩‍👧‍👦'
    expect(
      cut('word '.repeat(1_000), false).every(({ start, end }) => (end - start + 1) % 5 === 0),
    ).toBe(true)
    for (const character of [family, 'é', '\u{20000}'])
      for (const { start, end } of cut(`a${character.repeat(3_000)}`, false))
        expect([
          (start - Math.min(start, 1)) % character.length,
          (end - 1) % character.length,
        ]).toEqual([0, 0])
  })

  test('of other scripts ends at their sentences', () => {
    const japanese = '今日は天気がいいので散歩に行きます。'
    const content = japanese.repeat(200)
    for (const { end } of cut(content, false)) expect(content.slice(0, end)).toEndWith('。')
  })
})

/** Pieces of which anything may come. */
const pieces = fc.constantFrom(
  '# ',
  '## a',
  '\n',
  '\r\n',
  '\n\n',
  '```',
  '---',
  '===',
  '- ',
  '> ',
  'a',
  'word ',
  'Ende. ',
  '今日は。',
  'ไทย',
  '👩‍👩‍👧‍👦',
  'e\u0301',
  '\u{20000}',
  '<!--',
  '-->',
  ' ',
)
const anyText = fc.array(pieces, { maxLength: 2_000 }).map((all) => all.join(''))

test('passages are exact, ordered, bounded, and leave out nothing that has letters', () => {
  fc.assert(
    fc.property(anyText, fc.boolean(), (content, isMarkdown) => {
      const passages = cut(content, isMarkdown)
      let last = { start: -1, end: 0 }
      passages.forEach(({ number, start, end }, index) => {
        expect(number).toBe(index)
        expect(end - start).toBeLessThanOrEqual(PASSAGE_LENGTH)
        expect(start).toBeGreaterThan(last.start)
        expect(end).toBeGreaterThan(last.end)
        expect(content.slice(start, end)).toBe(content.slice(start, end).trim())
        expect(content.slice(start, end).isWellFormed()).toBe(true)
        expect(content.slice(Math.min(last.end, start), start)).not.toMatch(/[\p{L}\p{N}]/u)
        last = { start, end }
      })
      expect(content.slice(last.end)).not.toMatch(/[\p{L}\p{N}]/u)
      expect(cut(content, isMarkdown)).toEqual(passages)
    }),
    { numRuns: 300 },
  )
})

const megabyte: [what: string, content: string][] = [
  ['one line of words', 'word '.repeat(200_000)],
  ['one line without a space', 'a'.repeat(1_000_000)],
  ['headings alone', '# a\n'.repeat(250_000)],
  ['nested quotations', '> '.repeat(500_000)],
  ['one character with a million accents', `a${'\u0301'.repeat(1_000_000)}`],
  ['characters of Japanese', '今日は天気がいい。'.repeat(100_000)],
  ['line breaks', '\n'.repeat(1_000_000)],
]
test.each(megabyte)('a megabyte of %s is cut by looking at each part a few times', (_, content) => {
  let slices = 0
  // What cutting costs is what it reads of the text.
  const counted = new Proxy(new String(content), {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (name === 'slice')
        return (...range: [number, number]) => {
          const part = content.slice(...range)
          slices += part.length
          return part
        }
      return typeof value === 'function' ? value.bind(content) : value
    },
  })
  for (const _ of passagesOf(counted as string, true));
  expect(slices).toBeGreaterThan(content.length)
  expect(slices).toBeLessThan(8 * content.length)
})
