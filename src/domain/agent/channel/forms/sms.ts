/**
 * Plain text in few segments. Text in GSM's 7-bit alphabet costs less than half of any other text.
 */
import { type LayoutStyle, laidOut } from './layout.ts'
import { isBare } from './link.ts'
import { BOXES } from './runs.ts'
import { treeOf } from './tree.ts'

const MOST_SEGMENTS = 10
const SEPTETS_EACH = 153
const UNITS_EACH = 67
/** In characters of the alphabet below. */
export const LONGEST_SMS = MOST_SEGMENTS * SEPTETS_EACH

const ALPHABET = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
/** Each takes two septets. */
const EXTENSION = new Set('\f^{}\\[~]|€')

/** Typographic characters that the alphabet lacks, and what people type instead. */
const PLAIN: Record<string, string> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '′': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '″': '"',
  '«': '"',
  '»': '"',
  '`': "'",
  '–': '-',
  '—': '-',
  '‐': '-',
  '‑': '-',
  '−': '-',
  '·': '-',
  '•': '-',
  '…': '...',
  '→': '->',
  '\t': ' ',
  '\u00a0': ' ',
  '\u202f': ' ',
  '\u2009': ' ',
  [BOXES.done]: '[x]',
  [BOXES.open]: '[ ]',
}

const writePlain = (text: string): string =>
  text.replaceAll(/[^\n -~]|`/gu, (sign) => PLAIN[sign] ?? sign)

const septetsOf = (text: string): number => {
  let count = 0
  for (const sign of text) {
    if (EXTENSION.has(sign)) count += 2
    else if (ALPHABET.has(sign)) count++
    else return Number.POSITIVE_INFINITY
  }
  return count
}

export const smsStyle: LayoutStyle = {
  fits: ({ units, septets }) => septets <= LONGEST_SMS || units <= MOST_SEGMENTS * UNITS_EACH,
  sizeOf: (text) => ({ units: text.length, septets: septetsOf(text) }),
  escaped: writePlain,
  marked: writePlain,
  linked: (text, link) => (isBare(text, link) ? text : `${writePlain(text)} (${link})`),
  longestLink: 300,
  joiner: '',
  bullet: () => '-',
  quote: '> ',
  rule: '---',
  code: writePlain,
}

/**
 * At least one part, each of at most ten segments: 1,530 characters of GSM's alphabet, or 670 of
 * any other.
 */
export const smsForm = (markdown: string): string[] => laidOut(treeOf(markdown), smsStyle)
