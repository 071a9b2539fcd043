/**
 * A record as lines of text for a model. Clients without structured content see only this. It
 * leaves out empty fields, and truncates long text inside lists, with a note.
 */
import type { TSchema } from '@sinclair/typebox'
import { Quotation } from './quotation.ts'
import { cut } from './truncate.ts'
import { entryPlace, fieldPlace, type SchemaPlace, schemaPlace, wordsAt } from './trust.ts'

type Fields = Record<string, unknown>

interface Line extends SchemaPlace {
  indent: string
  inList: boolean
  quotation: Quotation
}

/** The longest text inside a list, in characters. Reading the single record returns all of it. */
const LONGEST_IN_LIST = 1_500
/** The longest answer, in characters. */
const LONGEST = 60_000
/** Fields that only programs need. */
const LEFT_OUT = new Set(['updated_at', 'updatedAt'])

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A record is empty if all its values are. */
export const isEmpty = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length === 0
  if (!isFields(value)) return value === null || value === undefined || value === ''
  for (const name in value) if (!isEmpty(value[name])) return false
  return true
}

/**
 * The text that follows a name or a dash. Text of several lines begins on the next line, indented.
 */
const scalar = (value: unknown, line: Line): string => {
  const { indent, inList, quotation } = line
  const whole = String(value)
  const text = inList ? cut(whole, LONGEST_IN_LIST) : whole
  const left = whole.length > text.length ? ` (${whole.length} characters in total)` : ''
  if (typeof value === 'string' && wordsAt(line, value) !== 'ours')
    return ` ${quotation.quote(text)}${left}`
  return `${text.includes('\n') ? `\n${text.replace(/^/gm, `${indent}  `)}` : ` ${text}`}${left}`
}

const field = (name: string, value: unknown, place: Line): string => {
  const { indent } = place
  if (!isFields(value) && !Array.isArray(value)) return `${indent}${name}:${scalar(value, place)}`
  const inside = { ...place, indent: `${indent}  ` }
  if (isFields(value)) return `${indent}${name}:\n${fields(value, inside)}`
  const ofEntries = { ...inside, inList: true, ...entryPlace(place) }
  return [`${indent}${name} (${value.length}):`, ...value.map((one) => entry(one, ofEntries))].join(
    '\n',
  )
}

/** A list entry: a dash before its first line, and the others aligned below it. */
const entry = (value: unknown, place: Line): string => {
  const { indent } = place
  const text = isFields(value)
    ? ` ${fields(value, { ...place, indent: `${indent}  ` }).trimStart()}`
    : scalar(value, place)
  return `${indent}-${text}`
}

const fields = (value: Fields, place: Line): string => {
  const lines: string[] = []
  for (const name in value) {
    const one = value[name]
    if (!isEmpty(one) && !LEFT_OUT.has(name))
      lines.push(field(name, one, { ...place, ...fieldPlace(place, value, name) }))
  }
  return lines.join('\n')
}

/**
 * `body`: a record in its wrapper, or a list with its cursor. `schema`: the schema of the body.
 * Returns at most about 60,000 characters.
 */
export const writeText = (body: Fields, schema: TSchema, quotation = new Quotation()): string => {
  const none = Object.entries(body).filter(([, one]) => Array.isArray(one) && one.length === 0)
  const place = { indent: '', inList: false, quotation, ...schemaPlace(schema) }
  const lines = [...none.map(([name]) => `${name}: none`), fields(body, place)]
  const text = lines.filter((line) => line !== '').join('\n')
  if (text.length <= LONGEST) return quotation.explained(text)
  return `${quotation.explained(cut(text, LONGEST))}\nThis answer is truncated: use a smaller limit.`
}
