/** The text within a block: runs of characters that look alike. */
import type { StateInline, Token } from 'markdown-it'
import { linkTo } from './link.ts'

export type Mark = 'bold' | 'italic' | 'strike' | 'code'

export interface Run {
  text: string
  marks: readonly Mark[]
  /** Where the run links to. */
  link: string | null
}

export const textRun = (text: string): Run => ({ text, marks: [], link: null })

export const plainOf = (runs: readonly Run[]): string => runs.map(({ text }) => text).join('')

/** The marks of tasks in a list. */
export const BOXES = { done: '☑', open: '☐' }

/** Other entities stay as they are written. */
const ENTITY = /&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#[xX]([\da-fA-F]{1,6}));/y
const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

const characterOf = (code: number): string | undefined =>
  code >= 0x20 &&
  code <= 0x10ffff &&
  !(code >= 0x7f && code <= 0x9f) &&
  !(code >= 0xd800 && code <= 0xdfff)
    ? String.fromCodePoint(code)
    : undefined

/** The parser's rule for entities such as `&amp;` and `&#38;`. */
export const decodeEntity = (state: StateInline, silent: boolean): boolean => {
  ENTITY.lastIndex = state.pos
  const [whole, name, decimal, hex] = ENTITY.exec(state.src) ?? []
  if (whole === undefined) return false
  const sign = name
    ? NAMED[name]
    : characterOf(decimal ? Number(decimal) : Number.parseInt(hex!, 16))
  if (sign === undefined) return false
  if (!silent)
    Object.assign(state.push('text_special', '', 0), {
      content: sign,
      markup: whole,
      info: 'entity',
    })
  state.pos += whole.length
  return true
}

const BREAK = /<br\s?\/?>/gi

/** HTML is shown as source text, except for line breaks. */
export const shownHtml = (html: string): string => html.replaceAll(BREAK, '\n')

const MARKS: Partial<Record<string, Mark>> = { strong: 'bold', em: 'italic', s: 'strike' }

/** A link whose words are being read. */
interface Open {
  href: string
  title: string
  /** The index of the first run of its words. */
  first: number
  /** The link around it. */
  outer: string | null
}

/** Reads inline tokens in order and tracks the open marks and the open link. */
class Words {
  readonly runs: Run[] = []
  #marks: readonly Mark[] = []
  /** How many of each mark are open inside one another. */
  readonly #depths: Partial<Record<Mark, number>> = {}
  #link: string | null = null
  readonly #open: Open[] = []

  read(tokens: readonly Token[]): void {
    for (const token of tokens) this.#read(token)
  }

  #add(text: string, marks = this.#marks): void {
    if (text !== '') this.runs.push({ text, marks, link: this.#link })
  }

  #read(token: Token): void {
    const [, name = '', change] = /^(.*)_(open|close)$/.exec(token.type) ?? []
    if (name === 'link') {
      if (change === 'open') this.#begin(token, 'href')
      else this.#end()
    } else if (change !== undefined) this.#mark(MARKS[name], change === 'open' ? 1 : -1)
    else if (token.type === 'image') {
      // If a reader's program fetched an image, the request could carry data to its address. So an
      // image becomes a link.
      this.#begin(token, 'src')
      this.read(token.children ?? [])
      this.#end()
    } else if (token.type === 'softbreak' || token.type === 'hardbreak') this.#add('\n')
    else if (token.type === 'html_inline') this.#add(shownHtml(token.content))
    else if (token.type === 'code_inline')
      this.#add(
        token.content,
        this.#marks.includes('code') ? this.#marks : [...this.#marks, 'code'],
      )
    else this.#add(token.content)
  }

  #mark(mark: Mark | undefined, by: 1 | -1): void {
    if (!mark) return
    const depth = (this.#depths[mark] ?? 0) + by
    this.#depths[mark] = depth
    if (depth === 0) this.#marks = this.#marks.filter((one) => one !== mark)
    else if (!this.#marks.includes(mark)) this.#marks = [...this.#marks, mark]
  }

  #begin(token: Token, name: 'href' | 'src'): void {
    const [href, title] = [String(token.attrGet(name) ?? ''), String(token.attrGet('title') ?? '')]
    this.#open.push({ href, title, first: this.runs.length, outer: this.#link })
    this.#link ??= linkTo(href) ?? null
  }

  /** Words that must not be linked are followed by the address as text. */
  #end(): void {
    const { href, title, first, outer } = this.#open.pop()!
    const words = plainOf(this.runs.slice(first)).trim()
    const isLinked = this.#link !== null
    if (words === '') {
      this.runs.length = first
      this.#add(href)
    }
    this.#link = outer
    if (title !== '') this.#add(` (${title})`)
    if (!isLinked && words !== '' && words !== href) this.#add(` (${href})`)
  }
}

export const runsOf = (tokens: readonly Token[]): Run[] => {
  const words = new Words()
  words.read(tokens)
  return words.runs
}

/** The runs, in bold as well. */
export const bold = (runs: readonly Run[]): Run[] =>
  runs.map((run) => (run.marks.includes('bold') ? run : { ...run, marks: ['bold', ...run.marks] }))

/** Splits runs into lines. */
export const splitRows = (runs: readonly Run[]): Run[][] => {
  const rows: Run[][] = [[]]
  for (const run of runs) {
    const [first = '', ...others] = run.text.split('\n')
    rows.at(-1)!.push({ ...run, text: first })
    for (const text of others) rows.push([{ ...run, text }])
  }
  return rows
}

const alike = (one: Run, other: Run): boolean =>
  one.link === other.link && one.marks.join() === other.marks.join()

/** Joins neighbours that look alike. */
export const mergeRuns = (runs: readonly Run[]): Run[] => {
  const all: Run[] = []
  for (const run of runs) {
    const last = all.at(-1)
    if (last && alike(last, run)) all[all.length - 1] = { ...last, text: last.text + run.text }
    else all.push(run)
  }
  return all
}
