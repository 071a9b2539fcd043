/** Comma-separated values as RFC 4180 has them, safe to open in a spreadsheet. */

/** What spreadsheets take for the beginning of a formula; source: OWASP, "CSV Injection". */
const FORMULA = /^[=+\-@\t\r]/
const NEEDS_QUOTES = /[",\r\n]/

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return FORMULA.test(value) ? `'${value}` : value
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Text that begins as a formula does gets an apostrophe before it; numbers stay as they are, and objects become JSON. */
export const csvLine = (cells: unknown[]): string =>
  `${cells
    .map(textOf)
    .map((text) => (NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text))
    .join(',')}\r\n`
