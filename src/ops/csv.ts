/** Comma-separated values as RFC 4180 has them, safe to open in a spreadsheet. */

/**
 * What spreadsheets take for the beginning of a formula, and what they read as the same: full-width and small forms, the minus
 * sign. Some skip blanks before it, or quotes that their separator has torn from a cell. Source: OWASP, "CSV Injection".
 */
const FORMULA = '[ "\\u00a0\\u3000]*[=+\\-@\\t\\uff1d\\uff0b\\uff0d\\uff20\\ufe66\\ufe62\\ufe63\\ufe6b\\u2212]'
/**
 * Where a cell may begin: with the text, and, for spreadsheets that split lines at semicolons, whatever the quotes around it,
 * behind each semicolon and each line break. A line break at the beginning is dropped by some.
 */
const BEGINS = new RegExp(`(?<![^;\\uff1b\\r\\n])(?=${FORMULA})|^(?=[\\r\\n])`, 'g')
/** JSON holds semicolons in its strings alone, and line breaks nowhere. */
const BEFORE_FORMULA = new RegExp(`[;\\uff1b](?=${FORMULA})`, 'g')
const NEEDS_QUOTES = /[",\r\n]/

/** Text in which no cell begins as a formula does: an apostrophe tells spreadsheets that what follows is text. */
const asText = (text: string): string => text.replace(BEGINS, "'")

/** The same for JSON, which stays what it was: a semicolon may be written by its number. */
const asJson = (value: object): string =>
  JSON.stringify(value).replace(BEFORE_FORMULA, (semicolon) => `\\u${semicolon.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Only text can be a formula: a number in a numeric column, such as -5, stays a number. */
const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return asText(value)
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? asJson(value) : String(value)
}

/** Objects become JSON. */
export const csvLine = (cells: unknown[]): string =>
  `${cells
    .map(cellOf)
    .map((text) => (NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text))
    .join(',')}\r\n`
