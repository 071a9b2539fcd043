/** CSV as in RFC 4180, safe to open in a spreadsheet. */

/**
 * Characters that begin a formula in spreadsheets, with their full-width and small forms and the
 * minus sign. Some spreadsheets skip blanks before them, or quotes that their separator has split
 * off a cell. Source: OWASP, "CSV Injection".
 */
const FORMULA =
  '[ "\\u00a0\\u3000]*[=+\\-@\\t\\uff1d\\uff0b\\uff0d\\uff20\\ufe66\\ufe62\\ufe63\\ufe6b\\u2212]'
/**
 * The places where a cell may begin: at the start of the text, and, because some spreadsheets split
 * at semicolons even inside quotes, after each semicolon and line break. Some drop a leading line
 * break.
 */
const BEGINS = new RegExp(`(?<![^;\\uff1b\\r\\n])(?=${FORMULA})|^(?=[\\r\\n])`, 'g')
/** In JSON, semicolons occur only in strings, and line breaks nowhere. */
const BEFORE_FORMULA = new RegExp(`[;\\uff1b](?=${FORMULA})`, 'g')
const NEEDS_QUOTES = /[",\r\n]/

/** Puts an apostrophe before the start of a formula, which makes spreadsheets treat it as text. */
const asText = (text: string): string => text.replace(BEGINS, "'")

/** The same for JSON, without changing its value: escapes the semicolon. */
const asJson = (value: object): string =>
  JSON.stringify(value).replace(
    BEFORE_FORMULA,
    (semicolon) => `\\u${semicolon.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Only text is protected: a number such as -5 stays a number. */
const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return asText(value)
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? asJson(value) : String(value)
}

/** One line with its line break. Objects become JSON. */
export const csvLine = (cells: unknown[]): string =>
  `${cells
    .map(cellOf)
    .map((text) => (NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text))
    .join(',')}\r\n`
