/** Text for terminals: width, truncation, and removal of control characters. */
import type stringWidth from 'string-width'

// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for control characters
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Anyone can write posts: an escape sequence must not move the cursor, nor a mark reverse the line. */
export const harmless = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(CONTROL, '\ufffd')

/** The same for JSON, without changing its value. */
export const escaped = (json: string): string => json.replaceAll(CONTROL, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

export const oneLine = (text: string): string =>
  harmless(text)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .replaceAll('\t', ' ')

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

/** Loaded on first use, like the segmenter: together they take as long as the rest of a start. */
let measure: typeof stringWidth | undefined
let segmenter: Intl.Segmenter | undefined

/** The width in terminal columns. */
export const widthOf = (text: string): number => {
  if (PRINTABLE_ASCII.test(text)) return text.length
  measure ??= (require('string-width') as typeof import('string-width')).default
  return measure(text)
}

/** At most `width` columns, ending in … if truncated. */
export const truncated = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  if (PRINTABLE_ASCII.test(text)) return `${text.slice(0, Math.max(0, width - 1))}…`
  segmenter ??= new Intl.Segmenter()
  let head = ''
  let used = 0
  for (const { segment } of segmenter.segment(text)) {
    used += widthOf(segment)
    if (used > width - 1) break
    head += segment
  }
  return `${head}…`
}

export const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))
