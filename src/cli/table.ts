/** Records as a table that fits the terminal. Ids are whole: they are copied. */
import { oneLine, padded, truncated, widthOf } from './text.ts'

type Row = Record<string, unknown>

export interface Column {
  name: string
  width: number
}

const GAP = 2
/** Narrower than this, a cut text says nothing. */
const NARROWEST = 20
/** In this order, before what else a record has. */
const FIRST = [
  'id',
  'status',
  'type',
  'state',
  'kind',
  'trigger.kind',
  'action',
  'action.kind',
  'made.kind',
  'made.id',
  'name',
  'handle',
  'title',
  'dimension',
  'value',
]
const NEXT = [
  'score',
  'count',
  'arguments.id',
  'body',
  'post.text',
  'post.author',
  'post_at',
  'error',
  'last_error',
  'doubt.resolves',
  'doubt.next_read_at',
]
/** How something came about, or what is long and read elsewhere. */
const LATER = ['arm', 'format', 'hook', 'length', 'instruction', 'rationale', 'markdown', 'model', 'origin', 'time_zone']
const LAST = ['created_at', 'createdAt', 'updated_at', 'updatedAt']
/** What of an object within a record has a column of its own: what tells it from others. */
const TELLING_INSIDE = new Set(['id', 'kind', 'author', 'text', 'resolves', 'next_read_at'])
const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z$/

/** One value in one line; lists and objects as how many, or as JSON; times to the second. */
const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return oneLine(value.replace(INSTANT, '$1Z'))
  if (Array.isArray(value)) return value.every((entry) => typeof entry === 'string') ? oneLine(value.join(', ')) : `${value.length}`
  return typeof value === 'object' ? oneLine(JSON.stringify(value)) : String(value)
}

/** Half an id is none. */
const isWhole = (name: string): boolean => name === 'status' || /(^|[._])id$/.test(name)

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

/** With what tells the objects in it apart beside its own fields, as `post.text`. */
const flat = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      isObject(value)
        ? Object.entries(value).flatMap(([inner, one]) => (TELLING_INSIDE.has(inner) ? [[`${name}.${inner}`, one]] : []))
        : [[name, value]],
    ),
  )

const isPlain = (value: unknown): boolean => value === null || value === undefined || typeof value !== 'object'

/** Nothing, or what most records are not. */
const isMute = (value: unknown): boolean => value === false || cellOf(value) === ''

/** Columns that say something in these rows, the most telling first. */
const candidates = (rows: readonly Row[]): string[] => {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const telling = names.filter((name) => rows.every((row) => isPlain(row[name])) && rows.some((row) => !isMute(row[name])))
  const rank = (name: string): number => {
    const early = [...FIRST, ...NEXT].indexOf(name)
    if (early >= 0) return early - FIRST.length - NEXT.length
    if (LATER.includes(name)) return 1
    return name.endsWith('_id') || LAST.includes(name) ? 2 : 0
  }
  return telling.sort((a, b) => rank(a) - rank(b))
}

/** Columns for rows such as these, in at most `width` columns of the terminal; what is cut keeps enough to be told apart. */
export const columnsFor = (records: readonly Row[], width = Number.POSITIVE_INFINITY): Column[] => {
  const rows = records.map(flat)
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
    .map((cell, index) => padded(truncated(cell, columns[index]!.width), columns[index]!.width))
    .join(' '.repeat(GAP))
    .trimEnd()

export const headOf = (columns: readonly Column[]): string =>
  line(
    columns.map(({ name }) => name.toUpperCase()),
    columns,
  )

export const linesOf = (rows: readonly Row[], columns: readonly Column[]): string[] =>
  rows.map(flat).map((row) =>
    line(
      columns.map(({ name }) => cellOf(row[name])),
      columns,
    ),
  )
