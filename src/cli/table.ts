/** Records as a table that fits the terminal. Ids are whole: they are copied. */
import { cut, oneLine, padded, widthOf } from './text.ts'

type Row = Record<string, unknown>

export interface Column {
  name: string
  width: number
}

const GAP = 2
/** Narrower than this, a cut text says nothing. */
const NARROWEST = 20
const LAST = ['created_at', 'createdAt', 'updated_at', 'updatedAt']

/** One value in one line; lists and objects as how many, or as JSON. */
export const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return oneLine(value)
  if (Array.isArray(value)) return value.every((entry) => typeof entry === 'string') ? oneLine(value.join(', ')) : `${value.length}`
  return typeof value === 'object' ? oneLine(JSON.stringify(value)) : String(value)
}

const isWhole = (name: string): boolean => name === 'id' || name === 'status'

const isPlain = (value: unknown): boolean => value === null || value === undefined || typeof value !== 'object'

/** Nothing, or what most records are not. */
const isMute = (value: unknown): boolean => value === false || cellOf(value) === ''

/** Columns that say something in these rows, the most telling first. */
const candidates = (rows: readonly Row[]): string[] => {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const telling = names.filter((name) => rows.every((row) => isPlain(row[name])) && rows.some((row) => !isMute(row[name])))
  const rank = (name: string): number => {
    if (name === 'id') return 0
    if (name === 'status') return 1
    return name.endsWith('_id') || LAST.includes(name) ? 3 : 2
  }
  return telling.sort((a, b) => rank(a) - rank(b))
}

/** Columns for rows such as these, in at most `width` columns of the terminal; what is cut keeps enough to be told apart. */
export const columnsFor = (rows: readonly Row[], width = Number.POSITIVE_INFINITY): Column[] => {
  const chosen: (Column & { least: number })[] = []
  let least = 0
  for (const name of candidates(rows)) {
    const whole = Math.max(widthOf(name), ...rows.map((row) => widthOf(cellOf(row[name]))))
    const column = { name, width: whole, least: isWhole(name) ? whole : Math.min(whole, Math.max(NARROWEST, widthOf(name))) }
    const room = least + column.least + GAP * chosen.length
    if (chosen.length > 0 && room > width) continue
    least += column.least
    chosen.push(column)
  }
  let spare = width - least - GAP * Math.max(0, chosen.length - 1)
  return chosen.map(({ name, width: whole, least: own }) => {
    const more = Math.min(whole - own, Math.max(0, spare))
    spare -= more
    return { name, width: own + more }
  })
}

const line = (cells: string[], columns: readonly Column[]): string =>
  cells
    .map((cell, index) => padded(cut(cell, columns[index]!.width), columns[index]!.width))
    .join(' '.repeat(GAP))
    .trimEnd()

export const headOf = (columns: readonly Column[]): string =>
  line(
    columns.map(({ name }) => name.toUpperCase()),
    columns,
  )

export const linesOf = (rows: readonly Row[], columns: readonly Column[]): string[] =>
  rows.map((row) =>
    line(
      columns.map(({ name }) => cellOf(row[name])),
      columns,
    ),
  )
