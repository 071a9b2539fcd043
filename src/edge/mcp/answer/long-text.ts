/**
 * The longest text of a record, and the part of it that fits in an answer. Positions are indexes of
 * JavaScript strings.
 */
import { fail } from '#kernel/errors'
import { isFields } from './text.ts'
import { tokensGuessed } from './token-guess.ts'

type Fields = Record<string, unknown>

export interface LongText {
  /** The names of the fields that lead to it. */
  path: readonly string[]
  text: string
}

/** Texts shorter than this are not shown in parts. */
const SHORTEST = 2_000

const textsIn = (fields: Fields, path: readonly string[] = []): LongText[] =>
  Object.entries(fields).flatMap(([name, value]) => {
    // The record's versions tell what a person has changed. What counts is the present text.
    if (name === 'original_body') return []
    if (typeof value === 'string') return [{ path: [...path, name], text: value }]
    return isFields(value) ? textsIn(value, [...path, name]) : []
  })

/** Texts inside lists do not count: they belong to other records. */
export const longestText = (body: Fields): LongText | undefined => {
  let longest: LongText | undefined
  for (const one of textsIn(body)) if (one.text.length > (longest?.text.length ?? 0)) longest = one
  return longest && longest.text.length >= SHORTEST ? longest : undefined
}

/** The record with the text at this place replaced. */
export const replaceText = (
  body: Fields,
  { path: [name, ...rest] }: Pick<LongText, 'path'>,
  text: string,
): Fields => ({
  ...body,
  [name!]:
    rest.length === 0
      ? text
      : replaceText(isFields(body[name!]) ? (body[name!] as Fields) : {}, { path: rest }, text),
})

/** Fields that say which record a part belongs to, and which version of it. */
const NAMING = ['id', 'revision']

/** The record with nothing but these fields and the way to the text. */
export const remainder = (
  body: Fields,
  { path: [name, ...rest] }: Pick<LongText, 'path'>,
): Fields => {
  const naming = Object.entries(body).filter(([one]) => NAMING.includes(one))
  const inner = body[name!]
  return {
    ...Object.fromEntries(naming),
    [name!]: isFields(inner) ? remainder(inner, { path: rest }) : '',
  }
}

export const checkedStart = ({ path, text }: LongText, from: number): void => {
  if (from < text.length) return
  const message = `must be less than ${text.length}, the length of ${path.at(-1)}`
  fail('invalid_input', `from ${message}`, { details: [{ path: 'from', message }] })
}

/** Whether a position would split a pair of surrogates. */
const isWithinPair = (text: string, at: number): boolean =>
  (text.codePointAt(at - 1) ?? 0) > 0xffff && at < text.length

/**
 * As many characters from `from` on as fit in `room` tokens, and a note that says which ones they
 * are.
 */
export const excerptFrom = (
  { path, text }: LongText,
  from: number,
  room: number,
): { part: string; note: string } => {
  const left = text.slice(isWithinPair(text, from) ? from - 1 : from)
  const start = text.length - left.length
  let length = left.length
  for (
    let size = tokensGuessed(JSON.stringify(left));
    size > room && length > 1;
    size = tokensGuessed(JSON.stringify(left.slice(0, length)))
  )
    length = Math.max(1, Math.floor(length * Math.min(0.95, room / size)))
  if (isWithinPair(left, length)) length++
  const end = start + length
  const next = end < text.length ? `growth_get_record with from ${end} reads on` : 'this is its end'
  return {
    part: left.slice(0, length),
    note: `Characters ${start} to ${end} of the ${text.length} of ${path.at(-1)}: ${next}.`,
  }
}
