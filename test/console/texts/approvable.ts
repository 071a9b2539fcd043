/**
 * Texts that can be approved and that programs like to change on their way: each kind has what
 * somewhere gets trimmed, normalised, escaped, counted otherwise or turned into markup.
 */
import { WEIGHTED_LIMIT, weightedLength } from '#domain/growth/length/weighted-length'

export interface ApprovableText {
  kind: string
  /** As it is typed, pasted or sent. */
  text: string
}

type Next = () => number

const PIECES: Record<string, readonly string[]> = {
  emoji: [
    '👩‍👩‍👧‍👦',
    '👩🏽‍🚀',
    '🏳️‍🌈',
    '🇩🇪',
    '🇺🇳🇩',
    '🏴󠁧󠁢󠁳󠁣󠁴󠁿',
    '1️⃣',
    '#⃣',
    '👍🏿',
    '🧑🏻‍❤️‍💋‍🧑🏿',
    '☺︎',
    '☺️',
    '🫱🏼‍🫲🏾',
    '😀',
  ],
  unseen: [
    '\u200b',
    '\u200c',
    '\u200d',
    '\u2060',
    '\ufeff',
    '\u00ad',
    '\u034f',
    '\u180e',
    '\u{e0041}',
    '\ufe0f',
  ],
  bidi: [
    '\u202eevil\u202c',
    '\u2066أهلا\u2069',
    'שלום 123',
    '\u200fabc',
    '\u061c1-2',
    'نص (عربي) abc',
    '\u202agit',
  ],
  composed: ['é', 'Å', 'ñ', '한국', 'ǖ', 'ế', '\u212b', '\u1e9b\u0323', 'ﬁ', '\ufdfa', 'が'],
  decomposed: [
    'e\u0301',
    'A\u030a',
    'n\u0303',
    '\u1112\u1161\u11ab',
    'u\u0308\u0304',
    'か\u3099',
    'q\u0323\u0307',
    'q\u0307\u0323',
  ],
  lines: ['\r\n', '\r', '\n', '\n\n', '\r\n\r\n', '\n\r', '\u2028', '\u2029', '\u0085'],
  links: [
    'https://example.com/a?b=c&d=%20#e',
    'example.com',
    'http://xn--bcher-kva.example/ä(b)',
    'HTTPS://EXAMPLE.COM/.',
    'www.example.co.uk/~x!',
    'https://en.wikipedia.org/wiki/A_(b)_(c)',
    'https://münchen.de',
    'https://例え.jp/引き',
    'https://a.b.c.d.e.f.example.org:8443/',
    'mailto:a@example.com',
    'ftp://example.com',
    'rare.museumx',
    'пример.рф',
  ],
  tags: [
    '#late',
    '＃全角',
    '#1',
    '#été',
    '#a_b',
    '@olga',
    '＠full',
    '@a_b_c_d_e_f_g_h',
    '$TSLA',
    '.@x',
    '#한국어',
  ],
  marks: [
    'Z\u0351\u036b\u0343\u036a\u0302',
    'a\u0301\u0323\u0345',
    'ก็้',
    'क्‍ष',
    'ி',
    '\u0e33',
    'x\u20dd',
    'I\u0307',
  ],
  spaces: ['\t', '  ', '\u00a0', '\u3000', '\u2009', '\u202f', '\t\t', '\u1680'],
  markup: [
    '<img src=x onerror=alert(1)>',
    '<script>alert(1)</script>',
    '&amp;&lt;&#x27;',
    'javascript:alert(1)',
    '"><svg/onload=alert(1)>',
    '{{7*7}}#{7*7}',
    '</textarea><b>',
    '<!--',
    ']]>',
    '%00%0d%0a',
    "'; drop table item; --",
    '\\u0000\\n',
    '**bold** _it_ `code`',
    '__proto__',
  ],
  scripts: [
    '漢字',
    'กขค',
    'नमस्ते',
    'ελλ',
    'кир',
    '𝔘𝔫𝔦',
    '𠮷',
    '\u{10fffd}',
    '\ue000',
    '\ufffd',
    '\ufffe',
    '\ufdd0',
    'ß',
    'ı',
    'ſ',
  ],
}

const KINDS = Object.keys(PIECES)
const WORDS = ['Every', 'delay', 'starts', 'at', 'the', 'dock', 'a', 'I']

const oneOf = <T>(list: readonly T[], next: Next): T => list[Math.floor(next() * list.length)]!

/** Pieces of these kinds among words, as long as the text keeps within `most`. */
const among = (kinds: readonly string[], most: number, next: Next): string => {
  let text = ''
  for (let misses = 0; misses < 3; ) {
    const piece = next() < 0.6 ? oneOf(PIECES[oneOf(kinds, next)]!, next) : `${oneOf(WORDS, next)} `
    const longer = text + piece + (next() < 0.4 ? ' ' : '')
    if (weightedLength(longer) > most) misses++
    else text = longer
  }
  return text
}

const FILLERS = ['😀', '漢', 'x'] as const

/** With as many signs behind it as the limit still takes; the last ones may count as two. */
const upToLimit = (text: string): string => {
  let full = `${text} `
  for (const filler of FILLERS)
    while (weightedLength(full + filler) <= WEIGHTED_LIMIT && (filler === 'x' || full.length < 400))
      full += filler
  return full
}

/** Nothing is trimmed: what is around a text belongs to it. */
const surrounded = (text: string, next: Next): string =>
  oneOf([' ', '\n', '\t', '\r\n', '\u3000', '\u200b', '\ufeff'], next) +
  text +
  oneOf([' ', '\n\n', '\t\t', '\r', '\u00a0', '\u200d', '  \r\n '], next)

const made = (number: number, next: Next): ApprovableText => {
  const main = KINDS[number % KINDS.length]!
  const turn = Math.floor(number / KINDS.length) % 4
  const name = `No ${number} `
  // The number keeps the texts apart; it does not always come first.
  if (turn === 0) return { kind: main, text: name + among([main], 120, next) }
  if (turn === 1)
    return { kind: `${main} around`, text: surrounded(among([main], 60, next) + name, next) }
  if (turn === 2)
    return { kind: `${main} at the limit`, text: upToLimit(name + among([main], 180, next)) }
  const kinds = [main, oneOf(KINDS, next), oneOf(KINDS, next)]
  return { kind: 'mixed', text: `${among(kinds, 230, next)}${name}` }
}

/** So many different texts, the same for the same numbers. */
export const approvableTexts = (count: number, next: Next): ApprovableText[] =>
  Array.from({ length: count }, (_, number) => made(number, next))

/** The text as the server is to store it: only line ends change. Not by the product's own code. */
export const asStored = (text: string): string =>
  text.replaceAll('\r\n', '\n').replaceAll(/[\r\u0085\u2028\u2029]/g, '\n')
