/** Markdown as the HTML of a mail, made of these tags alone; whatever comes from the Markdown is text in it. */
import type { Token, Tokens } from 'marked'
import { losesCells } from './blocks.ts'
import { isDisguised } from './link.ts'
import { boldRuns, type Mark, merged, type Run, runsOf, shownHtml, textRun } from './runs.ts'
import { SEAM, tokensOf } from './tokens.ts'

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')

const TAGS: Record<Mark, string> = { bold: 'strong', italic: 'em', strike: 's', code: 'code' }
const CELL = 'border:1px solid #ccc;padding:4px 8px;text-align:left'
const QUOTE = 'margin:0 0 0 4px;padding-left:12px;border-left:3px solid #ccc'
const CODE = 'background:#f4f4f4;padding:8px;white-space:pre-wrap'

const runHtml = ({ text, marks, link }: Run): string => {
  const inner = marks.reduce((html, mark) => `<${TAGS[mark]}>${html}</${TAGS[mark]}>`, escaped(text).replaceAll('\n', '<br>'))
  if (link === null) return inner
  const href = escaped(link)
  return `<a href="${href}">${inner}</a>${isDisguised(text.trim(), link) ? ` (<a href="${href}">${href}</a>)` : ''}`
}

const htmlOf = (runs: readonly Run[]): string => merged(runs).map(runHtml).join('')

const inline = (tokens: readonly Token[]): string => htmlOf(runsOf(tokens))

const verbatim = (text: string): string => `<p>${runHtml(textRun(text.trim()))}</p>`

const rowHtml = (cells: readonly Tokens.TableCell[], tag: 'th' | 'td'): string =>
  `<tr>${cells.map(({ tokens }) => `<${tag} style="${CELL}">${inline(tokens)}</${tag}>`).join('')}</tr>`

const tableHtml = (table: Tokens.Table): string => {
  if (losesCells(table)) return verbatim(table.raw)
  const rows = table.rows.map((row) => rowHtml(row, 'td')).join('')
  return `<table style="border-collapse:collapse"><thead>${rowHtml(table.header, 'th')}</thead><tbody>${rows}</tbody></table>`
}

const listHtml = ({ ordered, start, items }: Tokens.List): string => {
  const points = items.map(({ tokens }) => `<li>${blocks(tokens)}</li>`).join('')
  return ordered ? `<ol start="${Number(start)}">${points}</ol>` : `<ul>${points}</ul>`
}

/** Languages that nobody would read are left out, as in `blocks.ts`. */
const codeHtml = ({ text, lang = '' }: Tokens.Code): string =>
  `${/^[\w+#.-]{0,20}$/.test(lang) ? '' : verbatim(lang)}<pre style="${CODE}"><code>${escaped(text)}</code></pre>`

const writers: Record<string, (token: Token) => string> = {
  space: () => '',
  [SEAM]: () => '',
  paragraph: (token) => `<p>${inline((token as Tokens.Paragraph).tokens)}</p>`,
  heading: (token) => `<p>${htmlOf(boldRuns((token as Tokens.Heading).tokens))}</p>`,
  hr: () => '<hr>',
  code: (token) => codeHtml(token as Tokens.Code),
  blockquote: (token) => `<blockquote style="${QUOTE}">${blocks((token as Tokens.Blockquote).tokens)}</blockquote>`,
  list: (token) => listHtml(token as Tokens.List),
  table: (token) => tableHtml(token as Tokens.Table),
}

const isBlockHtml = (token: Token): boolean => token.type === 'html' && (token as Tokens.HTML).block === true

const blocks = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => {
      if (isBlockHtml(token)) return verbatim(shownHtml(token.raw))
      return writers[token.type]?.(token) ?? inline([token])
    })
    .join('')

export const mailHtml = (markdown: string): string => `<div>${blocks(tokensOf(markdown))}</div>`
