/** Text for terminals: width, truncation, and codes for what nobody would see. */
import type stringWidth from 'string-width'
import { textsIn } from '#kernel/json-value'
import { replaceUnseen, unseenCount, unseenWarning, withCodes } from '#kernel/unseen'
import type { Stream } from './host.ts'

/**
 * Anyone can write posts: an escape sequence must not move the cursor, nor a mark reverse the line,
 * and what nobody sees is shown.
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

/** Says how much of an answer nobody would see. `value`: as the server gave it. */
export const warnOfUnseen = (stderr: Stream, value: unknown): void => {
  let count = 0
  for (const { text } of textsIn(value)) count += unseenCount(text)
  if (count > 0) stderr.write(`tendril: ${unseenWarning('this text', count)}\n`)
}
