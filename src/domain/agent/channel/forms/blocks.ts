/**
 * The blocks of a Markdown text, for channels that have no tables or headings, and show lists as
 * plain lines.
 */
import { bold, plainOf, type Run, shownHtml, textRun } from './runs.ts'
import { isLanguage, type Node } from './tree.ts'

/** Marks an item of a list without numbers. */
export const BULLET = Symbol('bullet')

export interface Line {
  isQuoted: boolean
  /** How many list items contain it. */
  depth: number
  /** What begins a list item: `3.` or a bullet. Null: no item begins here. */
  marker: string | typeof BULLET | null
  runs: Run[]
}

export type Block =
  | { kind: 'text'; lines: Line[] }
  | { kind: 'code'; text: string }
  | { kind: 'rule' }

type Of<Kind extends Node['kind']> = Extract<Node, { kind: Kind }>

type Place = Pick<Line, 'isQuoted' | 'depth'>

interface Building {
  blocks: Block[]
  /** The block of lines that lists and quotations continue; undefined after any other block. */
  lines: Line[] | undefined
}

const addLine = (
  building: Building,
  place: Place,
  runs: Run[],
  marker: Line['marker'] = null,
): void => {
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

const addCode = (building: Building, place: Place, { text, info }: Of<'code'>): void => {
  if (!isLanguage(info)) addLine(building, place, [textRun(info)])
  addOther(building, { kind: 'code', text })
}

const addList = (
  building: Building,
  { isQuoted, depth }: Place,
  { start, items }: Of<'list'>,
): void => {
  for (const [index, nodes] of items.entries()) {
    const marker = start === null ? BULLET : `${start + index}.`
    const [first, ...rest] = nodes
    const own = first?.kind === 'paragraph' ? first.runs : []
    addLine(building, { isQuoted, depth }, own, marker)
    addNodes(building, { isQuoted, depth: depth + 1 }, first?.kind === 'paragraph' ? rest : nodes)
  }
}

const MOST_UNNAMED = 3
const BETWEEN = ' · '

const joinCells = (cells: Run[][]): Run[] =>
  cells.flatMap((cell, index) => (index === 0 ? cell : [textRun(BETWEEN), ...cell]))

const cellRuns = (cell: readonly Run[]): Run[] => {
  const runs = cell.map((run) => ({ ...run, text: run.text.replaceAll('\n', ' ') }))
  return plainOf(runs).trim() === '' ? [textRun('–')] : runs
}

/**
 * A table with few columns is shown under its headings. With more columns, each cell follows its
 * heading.
 */
const addTable = (building: Building, place: Place, { header, rows }: Of<'table'>): void => {
  const isNamed = header.length > MOST_UNNAMED
  if (!isNamed || rows.length === 0) addLine(building, place, joinCells(header.map(bold)))
  for (const row of rows) {
    const cells = row.map((cell, column) => {
      const name = header[column]!
      return isNamed && name.length > 0
        ? [...name, textRun(': '), ...cellRuns(cell)]
        : cellRuns(cell)
    })
    addLine(building, place, joinCells(cells), BULLET)
  }
}

const adders: {
  [Kind in Node['kind']]: (building: Building, place: Place, node: Of<Kind>) => void
} = {
  paragraph: (building, place, { runs }) => addLine(building, place, runs),
  heading: (building, place, { runs }) => addLine(building, place, bold(runs)),
  rule: (building) => addOther(building, { kind: 'rule' }),
  code: addCode,
  quote: (building, { depth }, { nodes }) => addNodes(building, { isQuoted: true, depth }, nodes),
  list: addList,
  table: (building, place, table) => {
    if (table.raw === null) addTable(building, place, table)
    else addLine(building, place, [textRun(table.raw)])
  },
  html: (building, place, { text }) => addLine(building, place, [textRun(shownHtml(text.trim()))]),
}

const addNodes = (building: Building, place: Place, nodes: readonly Node[]): void => {
  for (const node of nodes) adders[node.kind](building, place, node as never)
}

export const blocksOf = (nodes: readonly Node[]): Block[] => {
  const building: Building = { blocks: [], lines: undefined }
  for (const node of nodes) {
    building.lines = undefined
    addNodes(building, { isQuoted: false, depth: 0 }, [node])
  }
  return building.blocks
}
