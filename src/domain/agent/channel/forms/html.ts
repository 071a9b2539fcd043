/**
 * Markdown as the HTML of a mail. It contains no tags but these; everything from the Markdown is
 * text inside them.
 */
import { isDisguised } from './link.ts'
import { bold, type Mark, mergeRuns, type Run, shownHtml, textRun } from './runs.ts'
import { isLanguage, type Node } from './tree.ts'

const escapeText = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

const TAGS: Record<Mark, string> = { bold: 'strong', italic: 'em', strike: 's', code: 'code' }
const CELL = 'border:1px solid #ccc;padding:4px 8px;text-align:left'
const QUOTE = 'margin:0 0 0 4px;padding-left:12px;border-left:3px solid #ccc'
const CODE = 'background:#f4f4f4;padding:8px;white-space:pre-wrap'

const runHtml = ({ text, marks, link }: Run): string => {
  const inner = marks.reduce(
    (html, mark) => `<${TAGS[mark]}>${html}</${TAGS[mark]}>`,
    escapeText(text).replaceAll('\n', '<br>'),
  )
  if (link === null) return inner
  const href = escapeText(link)
  return `<a href="${href}">${inner}</a>${isDisguised(text.trim(), link) ? ` (<a href="${href}">${href}</a>)` : ''}`
}

const htmlOf = (runs: readonly Run[]): string => mergeRuns(runs).map(runHtml).join('')

const verbatim = (text: string): string => `<p>${runHtml(textRun(text.trim()))}</p>`

const rowHtml = (cells: readonly Run[][], tag: 'th' | 'td'): string =>
  `<tr>${cells.map((runs) => `<${tag} style="${CELL}">${htmlOf(runs)}</${tag}>`).join('')}</tr>`

const writers: { [Kind in Node['kind']]: (node: Extract<Node, { kind: Kind }>) => string } = {
  paragraph: ({ runs, isTight }) => (isTight ? htmlOf(runs) : `<p>${htmlOf(runs)}</p>`),
  heading: ({ runs }) => `<p>${htmlOf(bold(runs))}</p>`,
  rule: () => '<hr>',
  // Names of languages are left out, as in `blocks.ts`.
  code: ({ text, info }) =>
    `${isLanguage(info) ? '' : verbatim(info)}<pre style="${CODE}"><code>${escapeText(text)}</code></pre>`,
  quote: ({ nodes }) => `<blockquote style="${QUOTE}">${blocks(nodes)}</blockquote>`,
  list: ({ start, items }) => {
    const points = items.map((nodes) => `<li>${blocks(nodes)}</li>`).join('')
    return start === null ? `<ul>${points}</ul>` : `<ol start="${start}">${points}</ol>`
  },
  table: ({ header, rows, raw }) => {
    if (raw !== null) return verbatim(raw)
    const body = rows.map((row) => rowHtml(row, 'td')).join('')
    return `<table style="border-collapse:collapse"><thead>${rowHtml(header, 'th')}</thead><tbody>${body}</tbody></table>`
  },
  html: ({ text }) => verbatim(shownHtml(text)),
}

const blocks = (nodes: readonly Node[]): string =>
  nodes.map((node) => writers[node.kind](node as never)).join('')

export const mailHtml = (nodes: readonly Node[]): string => `<div>${blocks(nodes)}</div>`
