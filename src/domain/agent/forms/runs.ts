/** The text within a block: runs of characters that look alike. */
import type { Token } from 'marked'
import { linkTo } from './link.ts'

export type Mark = 'bold' | 'italic' | 'strike' | 'code'

export interface Run {
  text: string
  marks: readonly Mark[]
  /** Where it leads. */
  link: string | null
}

type Around = Pick<Run, 'marks' | 'link'>

const PLAIN: Around = { marks: [], link: null }

export const textRun = (text: string, around: Around = PLAIN): Run => ({ ...around, text })

export const plainOf = (runs: readonly Run[]): string => runs.map(({ text }) => text).join('')

/** The signs of tasks in a list. */
export const BOXES = { done: '☑', open: '☐' }

const ENTITY = /&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#[xX]([\da-fA-F]{1,6}));/g
const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

const characterOf = (code: number): string | undefined =>
  code >= 0x20 && code <= 0x10ffff && !(code >= 0x7f && code <= 0x9f) && !(code >= 0xd800 && code <= 0xdfff)
    ? String.fromCodePoint(code)
    : undefined

const decoded = (text: string): string =>
  text.replaceAll(ENTITY, (whole, name?: string, decimal?: string, hex?: string) =>
    name ? NAMED[name]! : (characterOf(decimal ? Number(decimal) : Number.parseInt(hex!, 16)) ?? whole),
  )

const BREAK = /<br\s?\/?>/gi

/** HTML is shown as what it is, but for line breaks. */
export const shownHtml = (html: string): string => html.replaceAll(BREAK, '\n')

const MARKS: Partial<Record<string, Mark>> = { strong: 'bold', em: 'italic', del: 'strike' }

const within = ({ marks, link }: Around, mark: Mark): Around => ({ marks: marks.includes(mark) ? marks : [...marks, mark], link })

/** What must not be linked is followed by its address as text. */
const addLink = (token: Token, around: Around, out: Run[]): void => {
  const { href, title, tokens = [] } = token as { href: string; title?: string | null; tokens?: Token[] }
  const link = around.link ?? linkTo(href)
  const label: Run[] = []
  add(tokens, { ...around, link: link ?? null }, label)
  const words = plainOf(label).trim()
  if (words === '') label.splice(0, label.length, textRun(href, { ...around, link: link ?? null }))
  out.push(...label)
  if (title) out.push(textRun(` (${decoded(title)})`, around))
  if (!link && words !== '' && words !== href) out.push(textRun(` (${href})`, around))
}

/** An image that a reader's program fetched could carry data to its address: it becomes a link. */
const addImage = (token: Token, around: Around, out: Run[]): void => {
  const { href, text, title } = token as { href: string; text: string; title?: string | null }
  addLink({ type: 'link', href, title, tokens: text === '' ? [] : [{ type: 'text', raw: text, text }] } as Token, around, out)
}

const addText = (token: Token, around: Around, out: Run[]): void => {
  const { tokens, text = token.raw } = token as { tokens?: Token[]; text?: string }
  if (tokens && tokens.length > 0) add(tokens, around, out)
  else out.push(textRun(decoded(text), around))
}

const adders: Record<string, (token: Token, around: Around, out: Run[]) => void> = {
  link: addLink,
  image: addImage,
  br: (_, around, out) => void out.push(textRun('\n', around)),
  codespan: (token, around, out) => void out.push(textRun((token as { text: string }).text.replaceAll('\n', ' '), within(around, 'code'))),
  html: (token, around, out) => void out.push(textRun(shownHtml(token.raw), around)),
  escape: (token, around, out) => void out.push(textRun((token as { text: string }).text, around)),
  checkbox: (token, around, out) => void out.push(textRun(`${(token as { checked: boolean }).checked ? BOXES.done : BOXES.open} `, around)),
}

const add = (tokens: readonly Token[], around: Around, out: Run[]): void => {
  for (const token of tokens) {
    const mark = MARKS[token.type]
    if (mark) add((token as { tokens: Token[] }).tokens, within(around, mark), out)
    else (adders[token.type] ?? addText)(token, around, out)
  }
}

export const runsOf = (tokens: readonly Token[], around: Around = PLAIN): Run[] => {
  const runs: Run[] = []
  add(tokens, around, runs)
  return runs
}

/** In bold, too. */
export const boldRuns = (tokens: readonly Token[]): Run[] => runsOf(tokens, within(PLAIN, 'bold'))

/** Line by line. */
export const rowsOf = (runs: readonly Run[]): Run[][] => {
  const rows: Run[][] = [[]]
  for (const run of runs) {
    const [first = '', ...others] = run.text.split('\n')
    rows.at(-1)!.push({ ...run, text: first })
    for (const text of others) rows.push([{ ...run, text }])
  }
  return rows
}

const alike = (one: Run, other: Run): boolean => one.link === other.link && one.marks.join() === other.marks.join()

/** Neighbours that look alike are one. */
export const merged = (runs: readonly Run[]): Run[] => {
  const all: Run[] = []
  for (const run of runs) {
    const last = all.at(-1)
    if (last && alike(last, run)) all[all.length - 1] = { ...last, text: last.text + run.text }
    else all.push(run)
  }
  return all
}
