/** Text for terminals: its width, truncation, and codes for invisible characters. */
import type stringWidth from 'string-width'
import { textsIn } from '#kernel/json-value'
import { replaceUnseen, unseenCount, unseenWarning, withCodes } from '#kernel/unseen'
import type { Stream } from './host.ts'

/**
 * Anyone can write posts, so an escape sequence must not move the cursor, no mark may reverse the
 * line, and invisible characters are shown.
 */
export const harmless = (text: string): string => withCodes(text.replaceAll('\r\n', '\n'))

const units = (run: string): string =>
  Array.from(
    { length: run.length },
    (_, index) => `\\u${run.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('')

/** The same for JSON, without changing its value. */
export const escapeUnseen = (json: string): string => replaceUnseen(json, units)

export const oneLine = (text: string): string =>
  harmless(text)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .replaceAll('\t', ' ')

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

/** Loaded on first use, like the segmenter. Together, they take as long as the rest of a start. */
let measure: typeof stringWidth | undefined
let segmenter: Intl.Segmenter | undefined

/** The width in terminal columns. */
export const widthOf = (text: string): number => {
  if (PRINTABLE_ASCII.test(text)) return text.length
  measure ??= (require('string-width') as typeof import('string-width')).default
  return measure(text)
}

/** At most `width` columns, ending in … if truncated. */
export const truncate = (text: string, width: number): string => {
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

export const pad = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - widthOf(text)))

/**
 * Warns about characters of an answer that would be invisible. `value`: as the server returned it.
 */
export const warnOfUnseen = (stderr: Stream, value: unknown): void => {
  let count = 0
  for (const { text } of textsIn(value)) count += unseenCount(text)
  if (count > 0) stderr.write(`tendril: ${unseenWarning('this text', count)}\n`)
}
