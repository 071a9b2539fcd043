/** The blocks of a text in Markdown, for channels that know neither tables nor headings, and lists only as lines. */
import type { Token, Tokens } from 'marked'
import { boldRuns, plainOf, type Run, runsOf, shownHtml, textRun } from './runs.ts'
import { SEAM, tokensOf } from './tokens.ts'

/** A point of a list without numbers. */
export const BULLET = Symbol('bullet')

export interface Line {
  isQuoted: boolean
  /** How many points of lists it is in. */
  depth: number
  /** What begins a point: `3.` or a bullet. Null: it goes on. */
  marker: string | typeof BULLET | null
  runs: Run[]
}

export type Block = { kind: 'text'; lines: Line[] } | { kind: 'code'; text: string } | { kind: 'rule' }

type Place = Pick<Line, 'isQuoted' | 'depth'>

interface Building {
  blocks: Block[]
  /** Lists and quotations go on in one block. */
  lines: Line[] | undefined
}

const addLine = (building: Building, place: Place, runs: Run[], marker: Line['marker'] = null): void => {
  if (!building.lines) {
    building.lines = []
    building.blocks.push({ kind: 'text', lines: building.lines })
  }
  building.lines.push({ ...place, marker, runs })
}

const addOther = (building: Building, block: Block): void => {
  building.blocks.push(block)
  building.lines = undefined
}

/** The name of a language, which says nothing to readers. */
const LANGUAGE = /^[\w+#.-]{0,20}$/

const addCode = (building: Building, place: Place, { text, lang = '' }: Tokens.Code): void => {
  if (!LANGUAGE.test(lang)) addLine(building, place, [textRun(lang)])
  addOther(building, { kind: 'code', text })
}

const isText = (token: Token | undefined): token is Tokens.Text | Tokens.Paragraph =>
  token?.type === 'text' || token?.type === 'paragraph' || token?.type === 'checkbox'

const addList = (building: Building, { isQuoted, depth }: Place, list: Tokens.List): void => {
  for (const [index, { tokens }] of list.items.entries()) {
    const marker = list.ordered ? `${Number(list.start) + index}.` : BULLET
    // Marks of tasks and the text after them are one line.
    const end = tokens.findIndex((token, at) => !isText(token) || (at > 0 && tokens[at - 1]!.type !== 'checkbox'))
    const [own, rest] = end < 0 ? [tokens, []] : [tokens.slice(0, end), tokens.slice(end)]
    addLine(building, { isQuoted, depth }, runsOf(own), marker)
    addTokens(building, { isQuoted, depth: depth + 1 }, rest)
  }
}

const MOST_UNNAMED = 3
const BETWEEN = ' · '

const joined = (cells: Run[][]): Run[] => cells.flatMap((cell, index) => (index === 0 ? cell : [textRun(BETWEEN), ...cell]))

const cellRuns = (cell: Tokens.TableCell): Run[] => {
  const runs = runsOf(cell.tokens).map((run) => ({ ...run, text: run.text.replaceAll('\n', ' ') }))
  return plainOf(runs).trim() === '' ? [textRun('–')] : runs
}

/** A table of few columns under its headings, of more with each heading before its cell. */
const addTable = (building: Building, place: Place, table: Tokens.Table): void => {
  const { header, rows } = table
  const isNamed = header.length > MOST_UNNAMED
  if (!isNamed) addLine(building, place, joined(header.map(({ tokens }) => boldRuns(tokens))))
  for (const row of rows) {
    const cells = row.map((cell, column) => {
      const name = header[column]!.tokens
      return isNamed && name.length > 0 ? [...runsOf(name), textRun(': '), ...cellRuns(cell)] : cellRuns(cell)
    })
    addLine(building, place, joined(cells), BULLET)
  }
  if (isNamed && rows.length === 0) addLine(building, place, joined(header.map(({ tokens }) => boldRuns(tokens))))
}

const FRAME = /[\s|:-]/g

/** Cells beyond the columns of the heading are left out by the parser. */
export const losesCells = ({ raw, header, rows }: Tokens.Table): boolean => {
  const kept = [header, ...rows].flat().map(({ text }) => text)
  return kept.join('').replaceAll(FRAME, '').length < raw.replaceAll(FRAME, '').length
}

const adders: Record<string, (building: Building, place: Place, token: Token) => void> = {
  space: () => {},
  heading: (building, place, token) => addLine(building, place, boldRuns((token as Tokens.Heading).tokens)),
  hr: (building) => addOther(building, { kind: 'rule' }),
  code: (building, place, token) => addCode(building, place, token as Tokens.Code),
  blockquote: (building, { depth }, token) => addTokens(building, { isQuoted: true, depth }, (token as Tokens.Blockquote).tokens),
  list: (building, place, token) => addList(building, place, token as Tokens.List),
  table: (building, place, token) => {
    const table = token as Tokens.Table
    if (losesCells(table)) addLine(building, place, [textRun(table.raw)])
    else addTable(building, place, table)
  },
  html: (building, place, token) => addLine(building, place, [textRun(shownHtml(token.raw.trim()))]),
}

const addTokens = (building: Building, place: Place, tokens: readonly Token[]): void => {
  for (const token of tokens) {
    const adder = adders[token.type]
    if (adder) adder(building, place, token)
    else addLine(building, place, runsOf(token.type === 'paragraph' ? (token as Tokens.Paragraph).tokens : [token]))
  }
}

export const blocksOf = (markdown: string): Block[] => {
  const building: Building = { blocks: [], lines: undefined }
  let goesOn = false
  for (const token of tokensOf(markdown)) {
    const isSeam = token.type === SEAM
    if (!isSeam && !goesOn) building.lines = undefined
    if (!isSeam) addTokens(building, { isQuoted: false, depth: 0 }, [token])
    goesOn = isSeam
  }
  return building.blocks
}
