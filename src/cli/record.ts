/** Formats a record for people: one field per line, with long texts and lists below their name. */
import { columnsFor, headOf, isUncounted, tableLines, UNCOUNTED } from './table.ts'
import { harmless } from './text.ts'

const INDENT = '  '

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const indent = (lines: readonly string[]): string[] =>
  lines.map((text) => (text === '' ? '' : INDENT + text))

const listLines = (list: readonly unknown[], width: number): string[] => {
  if (!list.every(isObject))
    return list.flatMap((entry) =>
      plainLines(entry).map((text, index) => (index === 0 ? `- ${text}` : `  ${text}`)),
    )
  const columns = columnsFor(list, width)
  return [headOf(columns), ...tableLines(list, columns)]
}

const plainLines = (value: unknown): string[] =>
  (typeof value === 'string' ? harmless(value) : JSON.stringify(value)).split('\n')

const isShort = (value: unknown): boolean =>
  typeof value !== 'object' && !String(value).includes('\n')

/** A change is null for other reasons: there was nothing to compare with. */
const CHANGE = 'change'

/** The record with words in place of numbers that the network does not count. */
const marked = (of: string, record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      of !== CHANGE && isUncounted(name, value)
        ? `${UNCOUNTED} (not counted by this network)`
        : value,
    ]),
  )

const fieldLines = (
  name: string,
  value: unknown,
  { pad, width }: { pad: number; width: number },
): string[] => {
  if (isShort(value)) return [`${name.padEnd(pad)}  ${plainLines(value)[0]}`.trimEnd()]
  if (typeof value === 'string') return [`${name}:`, ...indent(plainLines(value))]
  if (Array.isArray(value))
    return [`${name} (${value.length}):`, ...indent(listLines(value, width - INDENT.length))]
  return [
    `${name}:`,
    ...indent(recordLines(marked(name, value as Record<string, unknown>), width - INDENT.length)),
  ]
}

/** Leaves out null fields and empty lists. */
const recordLines = (
  record: Record<string, unknown>,
  width = Number.POSITIVE_INFINITY,
): string[] => {
  const there = Object.entries(record).filter(
    ([, value]) =>
      value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0),
  )
  const pad = Math.max(
    0,
    ...there.filter(([, value]) => isShort(value)).map(([name]) => name.length),
  )
  return there.flatMap(([name, value]) => fieldLines(name, value, { pad, width }))
}

/** Formats an answer, without its wrapper field. */
export const answerLines = (body: Record<string, unknown>, width?: number): string[] => {
  const values = Object.values(body)
  const [only] = values
  return recordLines(values.length === 1 && isObject(only) ? only : body, width)
}
