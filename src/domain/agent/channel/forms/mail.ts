/** Mail: the same content as plain text and as HTML that loads and runs nothing. */
import { mailHtml } from './html.ts'
import { type LayoutStyle, laidOut, NOTHING } from './layout.ts'
import { isBare } from './link.ts'
import { markdownParts } from './markdown.ts'
import { treeOf } from './tree.ts'

/** The length of the Markdown of one mail. */
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
   * Paragraphs, lists, tables, code and links. It has no images, no styles that load anything, and
   * none of the Markdown's own tags.
   */
  html: string
}

/** Takes Markdown that `mailForm` has made. */
export const mailBody = (markdown: string): MailBody => {
  const nodes = treeOf(markdown)
  return { text: laidOut(nodes, plain).join('\n\n'), html: mailHtml(nodes) }
}
