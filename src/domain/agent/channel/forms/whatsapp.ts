/**
 * WhatsApp's marks for bold and other text. WhatsApp has no links with words, so addresses are
 * written out.
 */
import { type LayoutStyle, laidOut } from './layout.ts'
import { isBare } from './link.ts'
import type { Mark } from './runs.ts'
import { treeOf } from './tree.ts'

/** The limit for the body of a text message. */
export const LONGEST_WHATSAPP = 4_096
const SIGNS: Record<Mark, string> = { bold: '*', italic: '_', strike: '~', code: '`' }
const ZERO_WIDTH_SPACE = '\u200b'
const FENCE = '```'

const markText: LayoutStyle['marked'] = (text, marks) => {
  const all = marks.includes('code')
    ? marks.filter((mark) => mark === 'code' && !text.includes('`'))
    : marks
  return all.reduce((inner, mark) => SIGNS[mark] + inner + SIGNS[mark], text)
}

export const whatsappStyle: LayoutStyle = {
  fits: ({ units }) => units <= LONGEST_WHATSAPP,
  sizeOf: (text) => ({ units: text.length, septets: Number.POSITIVE_INFINITY }),
  escaped: (text) => text,
  marked: markText,
  // A mark right after an address would become part of it.
  linked: (text, link, marks) => (isBare(text, link) ? text : `${markText(text, marks)} (${link})`),
  longestLink: LONGEST_WHATSAPP / 4,
  joiner: ZERO_WIDTH_SPACE,
  bullet: () => '-',
  quote: '> ',
  rule: '———',
  code: (text) =>
    `${FENCE}\n${text.replaceAll(FENCE, ['`', '`', '`'].join(ZERO_WIDTH_SPACE))}\n${FENCE}`,
}

/** At least one part, each of at most 4,096 characters. */
export const whatsappForm = (markdown: string): string[] => laidOut(treeOf(markdown), whatsappStyle)
