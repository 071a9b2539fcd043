/** Prints answers: JSON for programs, tables and fields for people. */
import type { Host, Stream } from './host.ts'
import { answerLines } from './record.ts'
import { type Column, columnsFor, headOf, tableLines } from './table.ts'
import { escapeUnseen, warnOfUnseen } from './text.ts'

type Row = Record<string, unknown>

const BOLD = ['\u001b[1m', '\u001b[22m'] as const

/**
 * JSON on one line for pipes. For terminals, it is indented and invisible characters are escaped.
 */
export const jsonText = (value: unknown, { columns }: Stream): string =>
  columns === undefined
    ? `${JSON.stringify(value)}\n`
    : `${escapeUnseen(JSON.stringify(value, null, 2))}\n`

export const printAnswer = ({ stdout, stderr }: Host, body: Row, asJson: boolean): void => {
  stdout.write(
    asJson
      ? jsonText(body, stdout)
      : answerLines(body, stdout.columns)
          .map((text) => `${text}\n`)
          .join(''),
  )
  // Programs read the value unchanged.
  if (!asJson || stdout.columns !== undefined) warnOfUnseen(stderr, body)
}

export interface Pages {
  add(rows: readonly Row[]): void
}

/** Prints all pages under one header, with the column widths of the first page. */
export const tablePages = ({ stdout, stderr }: Host): Pages => {
  let columns: readonly Column[] | undefined
  return {
    add(rows) {
      const isFirst = columns === undefined && rows.length > 0
      columns ??= rows.length > 0 ? columnsFor(rows, stdout.columns) : undefined
      if (!columns) return
      const head = stdout.colour ? BOLD[0] + headOf(columns) + BOLD[1] : headOf(columns)
      stdout.write(
        [...(isFirst ? [head] : []), ...tableLines(rows, columns)]
          .map((text) => `${text}\n`)
          .join(''),
      )
      warnOfUnseen(stderr, rows)
    },
  }
}

/** One line per record. */
export const jsonLines = ({ stdout }: Host): Pages => ({
  add(rows) {
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    stdout.write(stdout.columns === undefined ? lines : escapeUnseen(lines))
  },
})
