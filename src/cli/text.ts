/** Text for terminals: how wide it is, how it is cut, and nothing in it that a terminal would obey. */
import type stringWidth from 'string-width'

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Posts come from anywhere: an escape sequence in one must not move the cursor, nor a mark turn the line around. */
export const harmless = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(CONTROL, '\ufffd')

/** The same for JSON, which stays what it is. */
export const escaped = (json: string): string => json.replaceAll(CONTROL, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

export const oneLine = (text: string): string =>
  harmless(text)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .replaceAll('\t', ' ')

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

/** Loaded when first needed, and segments made likewise: both together take as long as all else of a start. */
let measure: typeof stringWidth | undefined
let segmenter: Intl.Segmenter | undefined

/** Columns that a terminal gives it. */
export const widthOf = (text: string): number => {
  if (PRINTABLE_ASCII.test(text)) return text.length
  measure ??= (require('string-width') as typeof import('string-width')).default
  return measure(text)
}

/** At most `width` columns, with … where something was cut off. */
export const truncated = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  if (PRINTABLE_ASCII.test(text)) return `${text.slice(0, Math.max(0, width - 1))}…`
  segmenter ??= new Intl.Segmenter()
  let kept = ''
  let used = 0
  for (const { segment } of segmenter.segment(text)) {
    used += widthOf(segment)
    if (used > width - 1) break
    kept += segment
  }
  return `${kept}…`
}

export const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))
