/** Tables that fit the terminal. Ids are never truncated, because people copy them. */
import { kebab } from './names.ts'
import { oneLine, pad, truncate, widthOf } from './text.ts'

type Row = Record<string, unknown>

export interface Column {
  name: string
  width: number
}

const GAP = 2
/** Below this width, truncated text is useless. */
const NARROWEST = 20
/** Shown first, in this order. */
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
  'slug',
  'tool_name',
  'summary',
  'goal',
  'next_run_at',
  'score',
  'count',
  'arguments.id',
  'body',
  'post.text',
  'post.author',
  'mark',
  'post_at',
  'error',
  'last_error',
  'doubt.resolves',
  'doubt.next_read_at',
]
/** Not shown: provenance, and long fields that people read elsewhere. */
const LATER = [
  'arm',
  'format',
  'hook',
  'length',
  'instruction',
  'rationale',
  'markdown',
  'model',
  'origin',
  'time_zone',
  'secret',
  'sha256',
]
/** Shown even if they are off in every row. */
const SWITCHES = new Set(['enabled', 'mcp'])
const LAST = ['created_at', 'updated_at']
/** Fields of nested objects that get their own column, because they identify the object. */
const TELLING_INSIDE = new Set(['id', 'kind', 'author', 'text', 'resolves', 'next_read_at'])
const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z$/

/** Numbers of posts that not every network counts: null then, which is neither empty nor 0. */
const MAYBE_COUNTED = new Set(['impressions', 'clicks'])
/** The mark of a number that the network does not count. */
export const UNCOUNTED = '–'
export const isUncounted = (name: string, value: unknown): boolean =>
  value === null && MAYBE_COUNTED.has(name)

/** One value on one line: lists and objects as a count or JSON, times to the second. */
const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return oneLine(value.replace(INSTANT, '$1Z'))
  if (Array.isArray(value))
    return value.every((entry) => typeof entry === 'string')
      ? oneLine(value.join(', '))
      : `${value.length}`
  return typeof value === 'object' ? oneLine(JSON.stringify(value)) : String(value)
}

/**
 * The agent's fields are in camel case and all others in snake case, but people see no difference.
 */
const inSnakeCase = (name: string): string => kebab(name).replaceAll('-', '_')

/** Ids are not truncated. */
const isWhole = (name: string): boolean =>
  name === 'status' || /(^|[._])id$/.test(inSnakeCase(name))

const isObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The id of a nested object may also be a field beside it. */
const isTelling = (row: Row, name: string, inner: string): boolean =>
  TELLING_INSIDE.has(inner) && !(inner === 'id' && (`${name}_id` in row || `${name}Id` in row))

/** How many digits of a hash people compare. */
export const MARK = 8

/**
 * The mark of a text: the beginning of its hash, which shows people whether two surfaces have the
 * same text.
 */
const markOf = (name: string, value: unknown): [string, unknown][] | undefined =>
  name === 'content_hash' && typeof value === 'string'
    ? [['mark', value.slice(0, MARK)]]
    : undefined

/** Adds identifying fields of nested objects, such as `post.text`. */
const flat = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).flatMap(
      ([name, value]) =>
        markOf(name, value) ??
        (isObject(value)
          ? Object.entries(value).flatMap(([inner, one]) =>
              isTelling(row, name, inner) ? [[`${name}.${inner}`, one]] : [],
            )
          : [[name, value]]),
    ),
  )

const isPlain = (value: unknown): boolean =>
  value === null || value === undefined || typeof value !== 'object'

const namedCell = (name: string, value: unknown): string =>
  isUncounted(name, value) ? UNCOUNTED : cellOf(value)

/** Whether a value is empty or a default. */
const isMute = (name: string, value: unknown): boolean =>
  value === false || namedCell(name, value) === ''

/** The columns with information in these rows, the most useful first. */
const candidates = (rows: readonly Row[]): string[] => {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const telling = names.filter(
    (name) =>
      rows.every((row) => isPlain(row[name])) &&
      (SWITCHES.has(name) || rows.some((row) => !isMute(name, row[name]))),
  )
  const rank = (field: string): number => {
    const name = inSnakeCase(field)
    const early = [...FIRST, ...NEXT].indexOf(name)
    if (early >= 0) return early - FIRST.length - NEXT.length
    if (LATER.includes(name)) return 1
    return name.endsWith('_id') || LAST.includes(name) ? 2 : 0
  }
  return telling.sort((a, b) => rank(a) - rank(b))
}

/**
 * The table's columns for these rows, within `width` terminal columns. Truncated values can still
 * be told apart.
 */
export const columnsFor = (records: readonly Row[], width = Number.POSITIVE_INFINITY): Column[] => {
  const rows = records.map(flat)
  const chosen: (Column & { least: number })[] = []
  let least = 0
  for (const name of candidates(rows)) {
    const whole = Math.max(
      widthOf(inSnakeCase(name)),
      ...rows.map((row) => widthOf(namedCell(name, row[name]))),
    )
    const column = {
      name,
      width: whole,
      least: isWhole(name)
        ? whole
        : Math.min(whole, Math.max(NARROWEST, widthOf(inSnakeCase(name)))),
    }
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
    .map((cell, index) => pad(truncate(cell, columns[index]!.width), columns[index]!.width))
    .join(' '.repeat(GAP))
    .trimEnd()

export const headOf = (columns: readonly Column[]): string =>
  line(
    columns.map(({ name }) => inSnakeCase(name).toUpperCase()),
    columns,
  )

export const tableLines = (rows: readonly Row[], columns: readonly Column[]): string[] =>
  rows.map(flat).map((row) =>
    line(
      columns.map(({ name }) => namedCell(name, row[name])),
      columns,
    ),
  )
