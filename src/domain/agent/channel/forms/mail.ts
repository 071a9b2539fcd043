/** Mail: the same in plain text and in HTML, which loads nothing and runs nothing. */
import { mailHtml } from './html.ts'
import { type LayoutStyle, laidOut, NOTHING } from './layout.ts'
import { isBare } from './link.ts'
import { markdownParts } from './markdown.ts'
import { treeOf } from './tree.ts'

/** Of Markdown in a mail. */
export const LONGEST_MAIL = 100_000

const plain: LayoutStyle = {
  fits: () => true,
  sizeOf: (text) => ({ units: text.length, septets: Number.POSITIVE_INFINITY }),
  escaped: (text) => text,
  marked: (text) => text,
  linked: (text, link) => (isBare(text, link) ? text : `${text} <${link}>`),
  longestLink: Number.POSITIVE_INFINITY,
  joiner: '',
  bullet: () => '-',
  quote: '> ',
  rule: '---',
  code: (text) => text.replaceAll(/^/gm, '    '),
}

/** The Markdown of each mail: at least one, each of at most 100,000 characters. */
export const mailForm = (markdown: string): string[] => {
  const parts = markdownParts(markdown, LONGEST_MAIL)
  return parts.length > 0 ? parts : [NOTHING]
}

export interface MailBody {
  text: string
  /**
   * Paragraphs, lists, tables, code and links: no images, styles that load anything, or tags that
   * the Markdown has.
   */
  html: string
}

/** Of Markdown that `mailForm` made. */
export const mailBody = (markdown: string): MailBody => {
  const nodes = treeOf(markdown)
  return { text: laidOut(nodes, plain).join('\n\n'), html: mailHtml(nodes) }
}
