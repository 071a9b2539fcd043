/**
 * Slack's mrkdwn. `<` begins what notifies people or what shows as something else (`<!channel>`,
 * `<@U012>`), so it is written only for links, whose addresses begin with a scheme.
 */
import { type LayoutStyle, laidOut } from './layout.ts'
import { isDisguised } from './link.ts'
import type { Mark } from './runs.ts'
import { treeOf } from './tree.ts'

/** Slack splits longer messages. */
export const LONGEST_SLACK = 4_000
const SIGNS: Record<Mark, string> = { bold: '*', italic: '_', strike: '~', code: '`' }
const ZERO_WIDTH_SPACE = '\u200b'
const FENCE = '```'

const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Code that contains the mark itself is left as it is. */
const wrapText = (text: string, plain: string, marks: readonly Mark[]): string => {
  const all = marks.includes('code')
    ? marks.filter((mark) => mark === 'code' && !plain.includes('`'))
    : marks
  return all.reduce((inner, mark) => SIGNS[mark] + inner + SIGNS[mark], text)
}

const linkText: LayoutStyle['linked'] = (text, link, marks) => {
  const address = escapeText(link)
  const plain = text === link ? `<${address}>` : `<${address}|${escapeText(text)}>`
  return wrapText(plain, text, marks) + (isDisguised(text, link) ? ` (<${address}>)` : '')
}

export const slackStyle: LayoutStyle = {
  fits: ({ units }) => units <= LONGEST_SLACK,
  sizeOf: (text) => ({ units: text.length, septets: Number.POSITIVE_INFINITY }),
  escaped: escapeText,
  marked: (text, marks) => wrapText(escapeText(text), text, marks),
  linked: linkText,
  longestLink: LONGEST_SLACK / 4,
  joiner: ZERO_WIDTH_SPACE,
  bullet: (depth) => (depth === 0 ? '•' : '◦'),
  quote: '> ',
  rule: '———',
  code: (text) =>
    `${FENCE}\n${escapeText(text).replaceAll(FENCE, ['`', '`', '`'].join(ZERO_WIDTH_SPACE))}\n${FENCE}`,
}

/** At least one part, each of at most 4,000 characters. */
export const slackForm = (markdown: string): string[] => laidOut(treeOf(markdown), slackStyle)
