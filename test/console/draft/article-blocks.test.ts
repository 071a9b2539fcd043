/** An article as blocks to read. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { articleBlocks, listsIn, readingFacts } from '#src/console/inbox/draft/article-blocks'
import { layerPieces } from '#src/console/inbox/draft/text-layer'

const kindsOf = (body: string, title: string | null = null) =>
  articleBlocks(body, title).map(({ kind, mark, text }) => [kind, mark, text])

test('title, headings, lists, quotations and paragraphs are told apart, and keep their marks', () => {
  const body = [
    'Why docks are late',
    'Every delay starts at the dock.\nIt ends at the customer.',
    'What we changed',
    '## And why',
    '- one\n  goes on\n- two\n    1. deeper',
    '> They wait.\n> All day.',
    'The end',
  ].join('\n\n')
  expect(kindsOf(body, 'Why docks are late')).toEqual([
    ['title', '', 'Why docks are late'],
    ['paragraph', '', 'Every delay starts at the dock.\nIt ends at the customer.'],
    ['heading', '', 'What we changed'],
    ['heading', '## ', 'And why'],
    ['item', '- ', 'one\n  goes on'],
    ['item', '- ', 'two'],
    ['item', '1. ', 'deeper'],
    ['quote', '> ', 'They wait.\n> All day.'],
    ['paragraph', '', 'The end'],
  ])
  const runs = listsIn(articleBlocks(body, 'Why docks are late'))
  expect(runs.map(({ length }) => length)).toEqual([1, 1, 1, 1, 3, 1, 1])
  expect(runs[4]!.map(({ depth }) => depth)).toEqual([0, 0, 2])
})

test('short paragraphs that are sentences, or hold hashtags or addresses, are no headings', () => {
  for (const text of ['It took a week. #late', 'Nobody asked. Why', 'See https://a.example.com'])
    expect(kindsOf(`One.\n\n${text}\n\nTwo.`)[1]).toEqual(['paragraph', '', text])
  expect(kindsOf('One.\n\nWhy now?\n\nTwo.')[1]).toEqual(['heading', '', 'Why now?'])
})

test('markup, images and addresses of scripts are words', () => {
  for (const text of [
    '<script>alert(1)</script>',
    '![x](https://a.example.com/p.png)',
    '[click](javascript:alert(1))',
    '<img src=x onerror=alert(1)>',
  ])
    expect(kindsOf(`One.\n\n${text}\n\nTwo.`)[1]).toEqual(['paragraph', '', text])
})

const visible = (text: string): string => text.replaceAll(/\s+/g, '')

test('the blocks of any text have all of its words, in order', () => {
  const line = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('', '# a', '- b', '  - c', '> d', '1) e', '   ', 'f g', '>>> >h', '####### i'),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const body = lines.join('\n')
      const blocks = articleBlocks(body, lines[0]?.trim() ?? null)
      expect(visible(blocks.map(({ mark, text }) => mark + text).join(''))).toBe(visible(body))
    }),
    { numRuns: 60 },
  )
})

/** As long as a text can be. */
const LENGTH = 25_000
const hostile = {
  'one word': 'x'.repeat(LENGTH),
  'nested quotations': '> '.repeat(LENGTH / 2),
  'nested lists': Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}- a`).join('\n'),
  brackets: '['.repeat(LENGTH),
  'marks of headings': '# '.repeat(LENGTH / 2),
  spaces: `a${' '.repeat(LENGTH - 2)}b`,
  'blank lines': '\n \n'.repeat(LENGTH / 3),
  'lines of a letter': 'a\n\n'.repeat(LENGTH / 3),
  'what nobody sees': 'a\u200b'.repeat(LENGTH / 2),
  links: 'a.co '.repeat(LENGTH / 5),
  hashtags: '#a '.repeat(LENGTH / 3),
  'turned text': '\u202ea'.repeat(LENGTH / 2),
}

test('hostile texts give few pieces, all of them', () => {
  for (const [name, text] of Object.entries(hostile)) {
    const blocks = articleBlocks(text, null)
    const pieces = blocks.flatMap((block) =>
      layerPieces(block.text, { limit: 0, measure: undefined }),
    )
    expect([
      name,
      pieces.length < LENGTH / 2,
      visible(pieces.map((one) => one.text).join('')),
    ]).toEqual([name, true, visible(blocks.map((block) => block.text).join(''))])
  }
})

test('words are counted in any script, and a minute is the least', () => {
  expect(readingFacts('One two, three.')).toEqual({ words: 3, minutes: 1 })
  expect(readingFacts('word '.repeat(460)).minutes).toBe(2)
  expect(readingFacts('港で待つ時間').words).toBeGreaterThan(1)
})
