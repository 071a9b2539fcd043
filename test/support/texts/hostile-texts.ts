/**
 * Texts that cause trouble for those who read them. Each can be made in any length, and takes a
 * careless parser quadratic time or more.
 */
import { hostile as hostileMarkdown } from './markdown.ts'

export type Making = (length: number) => string

const repeated =
  (unit: string, before = '', after = ''): Making =>
  (length) =>
    before +
    unit.repeat(Math.max(1, Math.floor((length - before.length - after.length) / unit.length))) +
    after

/** Each from a different block of Unicode. */
const everyBlock: Making = (length) => {
  let text = ''
  for (let index = 0; text.length < length; index++) {
    const point = (index * 251 + 0xa0) % 0x11_0000
    text += point >= 0xd800 && point < 0xe000 ? 'x' : String.fromCodePoint(point)
  }
  return text
}

/** Of different combining classes, so that normal forms must order them. */
const MARKS = ['\u0301', '\u0323', '\u0345', '\u05b0', '\u0e38', '\u302a', '\u093c', '\u034f']

const others: Record<string, Making> = {
  'emphasis in emphasis of another kind': repeated('*a_'),
  'strong emphasis that never ends': repeated('**a_'),
  'strikes that never end': repeated('~~a*'),
  'marks on a letter in the wrong order': repeated('\u0301\u0323', 'a'),
  'marks of all classes on a letter': repeated(MARKS.join(''), 'a'),
  'letters that grow in a normal form': repeated('\ufdfa'),
  'a character of every block': everyBlock,
  'unseen characters': repeated('\u200b'),
  tags: repeated('\u{e0041}', '\u{1f3f4}'),
  'joiners between pictures': repeated('👩‍', '', '👩'),
  'words of Thai without spaces': repeated('กขคงกิน'),
  'Chinese without spaces': repeated('漢字仮名交'),
  'spaces before a sign': repeated(' ', 'a', '!'),
  'tabs and line ends': repeated('\t\n', 'a', 'b'),
  'line ends of all kinds': repeated('\r\n\r\u2028\u0085'),
  'full stops': repeated('a. '),
  'capitals and full stops': repeated('A.'),
  'sentences with quotation marks': repeated('a."” '),
  'opening brackets': repeated('('),
  'brackets in pairs': repeated('()'),
  'brackets of Slack': repeated('<a|b'),
  'mentions of Slack': repeated('<@U012AB>'),
  'entities that never end': repeated('&amp'),
  entities: repeated('&#x41;'),
  'tags that never end': repeated('<a b="c'),
  'tags in tags': repeated('<div>'),
  'quotations in HTML': repeated('<blockquote>a'),
  'scripts that never end': repeated('<script>'),
  declarations: repeated('<!A '),
  attributes: repeated(' a=b', '<a', '>'),
  'headings of mails': repeated('On x at y wrote: '),
  'senders in heads': repeated('From: a <b> '),
  'quotations of mails': repeated('> > '),
  signatures: repeated('-- \n'),
  mailboxes: repeated('"a" <a@b>, '),
  'comments in addresses': repeated('('),
  'quoted pairs': repeated('\\"', '"'),
  'ids of mails': repeated('<a@b> '),
  parameters: repeated('; name="a\\'),
  hosts: repeated('a.com/'),
  'labels of hosts': repeated('a-'),
  'full stops in hosts': repeated('a.'),
  'paths with brackets': repeated('(a', 'https://a.com/'),
  queries: repeated('?a&', 'https://a.com/'),
  'addresses side by side': repeated('https://a.com'),
  hashtags: repeated('#a'),
  'tags of signs': repeated('#_'),
  keycaps: repeated('1\ufe0f\u20e3'),
  'flags by letters': repeated('🇩'),
  headings: repeated('# a\n'),
  'headings that end with signs': repeated(' #', '# a'),
  'underlined headings': repeated('a\n-\n'),
  'points of lists': repeated('- a\n'),
  'rules across': repeated('- ', '', 'x'),
  boxes: repeated('- [ ] a\n'),
  tables: repeated('|a|b|\n', '|a|b|\n|-|-|\n'),
  'wide tables': (length) => {
    const wide = Math.floor(Math.sqrt(length / 4))
    return `${'|a'.repeat(wide)}\n${'|-'.repeat(wide)}\n${'|\n'.repeat(Math.max(1, (length - 4 * wide) / 2))}`
  },
  'assigned things to do': repeated('aaaa', 'Ada soll ', '#'),
  'things to do in spaces': repeated(' a', 'Ada will ', '('),
  dates: repeated('by the ', 'do it '),
  'JSON in JSON': repeated('['),
  'objects in objects': repeated('{"a":'),
  'escapes of JSON': repeated('\\u0041', '"', '"'),
  'semicolons before spaces': repeated('; '),
  'line ends before formulas': repeated('\n\r '),
  commas: repeated(','),
  apostrophes: repeated("a'"),
  hyphens: repeated('a-'),
  numbers: repeated('1.'),
  'percent signs': repeated('%41'),
  'private characters': repeated('\ue000a\ue001'),
  'lone surrogates': repeated('\ud800'),
  'words that differ': (length) => {
    let text = ''
    for (let index = 0; text.length < length; index++) text += `w${index.toString(36)} `
    return text
  },
}

export const hostileTexts: Readonly<Record<string, Making>> = { ...hostileMarkdown, ...others }

/** Signs that parsers look for. Fuzzing repeats any two or three of them. */
export const ATOMS: readonly string[] = [
  ...[
    'a',
    'A',
    '1',
    ' ',
    '\n',
    '\t',
    '\r',
    '\0',
    '.',
    ',',
    ';',
    ':',
    '!',
    '?',
    "'",
    '"',
    '`',
    '~',
    '*',
    '_',
    '-',
    '+',
    '=',
    '#',
    '|',
    '\\',
    '/',
  ],
  ...[
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '<',
    '>',
    '&',
    '@',
    '%',
    '^',
    '$',
    '//',
    '](',
    '![',
    '<!--',
    '</',
    '<a ',
    '<div>',
    '&#',
    'http://',
    'www.',
  ],
  ...[
    '- ',
    '> ',
    '1. ',
    '    ',
    '```',
    '***',
    '~~',
    '\n\n',
    '.com',
    'On ',
    ' wrote:',
    'From: ',
    'soll ',
    'will ',
    'by ',
    '<@U1>',
    '://',
  ],
  ...[
    'é',
    '\u0301',
    '\u0323',
    '\u200b',
    '\u200d',
    '\ufe0f',
    '\u202e',
    '漢',
    'ก',
    'ي',
    '👩',
    '🇩',
    '\u{e0041}',
    '\ud800',
    '\ufdfa',
    '\u00a0',
    '\ue000',
  ],
]
