/**
 * Markdown for properties of the forms: documents whose words are known, and texts that cause
 * trouble for parsers.
 */
import fc, { type Arbitrary } from 'fast-check'

/** What a form of a document must show, in this order. */
export interface Known {
  markdown: string
  words: string[]
}

/** Characters at ends that cutting could break: of several code units, code points or both. */
const ENDS = ['', 'é', 'e\u0301', '漢', '👩‍🚀', '🇩🇪', '👍🏽', 'ก็', 'ß', 'х']

const word: Arbitrary<string> = fc
  .tuple(
    fc.stringMatching(/^[a-wyz]{2,8}$/),
    fc.constantFrom(...ENDS),
    fc.integer({ min: 0, max: 9_999 }),
  )
  .map(([letters, end, number]) => `q${letters}${number}${end}`)

const known = (markdown: string, words: string[]): Known => ({ markdown, words })

const text = (most = 12): Arbitrary<Known> =>
  fc.array(word, { minLength: 1, maxLength: most }).map((words) => known(words.join(' '), words))

const wrapped = (before: string, after: string): Arbitrary<Known> =>
  text(4).map(({ markdown, words }) => known(before + markdown + after, words))

const inline: Arbitrary<Known> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: text() },
      wrapped('**', '**'),
      wrapped('*', '*'),
      wrapped('~~', '~~'),
      wrapped('`', '`'),
      wrapped('***', '***'),
      wrapped('[', '](https://example.com/a?b=1&c=2)'),
      wrapped('![', '](https://example.com/a.png)'),
      wrapped('[', '](javascript:alert)'),
      wrapped('<b>', '</b>'),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((all) =>
    known(
      all.map(({ markdown }) => markdown).join(' '),
      all.flatMap(({ words }) => words),
    ),
  )

const joined = (
  all: readonly Known[],
  between: string,
  before: (index: number) => string = () => '',
): Known =>
  known(
    all.map(({ markdown }, index) => before(index) + markdown).join(between),
    all.flatMap(({ words }) => words),
  )

const several = (most: number) => fc.array(inline, { minLength: 1, maxLength: most })

const table: Arbitrary<Known> = fc.integer({ min: 1, max: 3 }).chain((columns) =>
  fc
    .array(fc.array(text(2), { minLength: columns, maxLength: columns }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((rows) => {
      const [head, ...body] = rows.map(
        (cells) => `| ${cells.map(({ markdown }) => markdown).join(' | ')} |`,
      )
      return known(
        [head, `|${'---|'.repeat(columns)}`, ...body].join('\n'),
        rows.flat().flatMap(({ words }) => words),
      )
    }),
)

const block: Arbitrary<Known> = fc.oneof(
  { weight: 3, arbitrary: inline },
  {
    weight: 2,
    arbitrary: fc.array(text(40), { minLength: 1, maxLength: 12 }).map((all) => joined(all, '. ')),
  },
  inline.map(({ markdown, words }) => known(`## ${markdown}`, words)),
  several(8).map((all) => joined(all, '\n', () => '- ')),
  several(8).map((all) => joined(all, '\n', (index) => `${index + 1}. `)),
  several(6).map((all) => joined(all, '\n', (index) => `${'  '.repeat(index % 3)}- `)),
  several(4).map((all) => joined(all, '\n', () => '> ')),
  several(4).map((all) => joined(all, '\n', () => '- [x] ')),
  fc
    .array(text(), { minLength: 1, maxLength: 20 })
    .map((all) =>
      known(`\`\`\`js\n${joined(all, '\n  ').markdown}\n\`\`\``, joined(all, '').words),
    ),
  table,
)

/** Of a few to some hundred blocks. */
export const knownDocument = (most = 60): Arbitrary<Known> =>
  fc.array(block, { minLength: 1, maxLength: most }).map((all) => joined(all, '\n\n'))

const SIGNS = [
  '*',
  '**',
  '_',
  '~',
  '`',
  '[',
  ']',
  '](',
  ')',
  '(',
  '<',
  '>',
  '|',
  '\n',
  '\n\n',
  ' ',
  '    ',
  '- ',
  '> ',
  '# ',
  '\\',
  ';',
  ':',
  '@',
]
const MARKED_UP = [
  '<!channel>',
  '<@U012AB>',
  '<!here|here>',
  '<#C01>',
  '<!subteam^S1>',
  '[w](<!channel>)',
  '[w](https://a.b/|w>)',
  '<img src=w onerror=w>',
]

/**
 * Any mixture of signs and words. No more than two ticks or tildes in a row, because more would
 * begin code whose language is not shown.
 */
export const mixture: Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...SIGNS) },
      { weight: 2, arbitrary: fc.stringMatching(/^[a-wyz]{1,6}$/) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('👩‍🚀', '🇩🇪', '漢', 'e\u0301', '\ud83d', '\0', '\u202e', '&'),
      },
      { weight: 1, arbitrary: fc.constantFrom(...MARKED_UP) },
    ),
    { maxLength: 400, size: 'max' },
  )
  .map((parts) => parts.join('').replaceAll(/`{3,}/g, '``').replaceAll(/~{3,}/g, '~~'))

/** Texts that take a careless parser quadratic time or more. */
export const hostile: Record<string, (length: number) => string> = {
  'emphasis that never ends': (length) => '*a'.repeat(length / 2),
  'emphasis of two kinds': (length) => '*a_ '.repeat(length / 4),
  'emphasis within emphasis': (length) => `${'*_'.repeat(length / 4)}a${'_*'.repeat(length / 4)}`,
  'brackets that never end': (length) => '['.repeat(length),
  'brackets within brackets': (length) => '['.repeat(length / 2) + ']'.repeat(length / 2),
  'links that never end': (length) => '[a]('.repeat(length / 4),
  'images that never end': (length) => '![a](b '.repeat(length / 7),
  'quotations within quotations': (length) => '>'.repeat(length),
  'quotations on many lines': (length) => `${'>'.repeat(8)}a\n`.repeat(length / 10),
  'lists within lists on one line': (length) => `${'- '.repeat(length / 2)}a`,
  'lists within lists on many lines': (length) => `${'- '.repeat(7)}a\n`.repeat(length / 16),
  'indentation that grows': (length) =>
    Array.from({ length: Math.sqrt(length) }, (_, index) => `${' '.repeat(index * 2)}- a`).join(
      '\n',
    ),
  'ticks that grow': (length) =>
    Array.from({ length: Math.sqrt(length * 2) }, (_, index) => '`'.repeat(index + 1)).join(' '),
  'a fence that never ends': (length) => `\`\`\`\n${'\n'.repeat(length)}`,
  'a fence of many signs': (length) => `${'~'.repeat(length - 1)}\``,
  'empty lines in code': (length) => `\`\`\`\na${'\n'.repeat(length)}b\n\`\`\``,
  'white space': (length) => `a${' '.repeat(length)}b`,
  'empty lines': (length) => `a${'\n'.repeat(length)}b`,
  tags: (length) => '<a b="'.repeat(length / 6),
  'comments that never end': (length) => '<!--'.repeat(length / 4),
  addresses: (length) => 'http://a'.repeat(length / 8),
  'addresses of mail': (length) => `${'a.'.repeat(length / 2)}@`,
  definitions: (length) => '[a]: b\n'.repeat(length / 7),
  'tables without rows': (length) => `${'|a'.repeat(length / 4)}\n${'|-'.repeat(length / 4)}\n|b`,
  'rules of tables': (length) => `|\n${'-'.repeat(length)}x`,
  'marks upon one letter': (length) => `e${'\u0301'.repeat(length)}`,
  flags: (length) => '🇩🇪'.repeat(length / 4),
  joiners: (length) => '👩‍'.repeat(length / 3),
  'quotation marks after a full stop': (length) => `a.${'"'.repeat(length)}`,
  'signs that grow when escaped': (length) => '&'.repeat(length),
  'one word': (length) => 'a'.repeat(length),
}
