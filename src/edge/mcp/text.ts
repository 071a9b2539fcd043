/**
 * A record as a few lines that a model can act on. Clients that know no structured content see only this, so it leaves out what
 * is empty and cuts only long texts inside of lists, saying so.
 */
import type { TSchema } from '@sinclair/typebox'
import { entryOf, fieldOf, isUntrusted } from './declared-fields.ts'
import { Quotation } from './quotation.ts'
import { cut } from './truncate.ts'

type Fields = Record<string, unknown>

interface Place {
  indent: string
  inList: boolean
  /** What the contract says of the value, if anything. */
  schema: TSchema | undefined
  /** It, or what it is part of, may be strangers' words. */
  untrusted: boolean
  quotation: Quotation
}

/** The same place one step further in. */
const within = (place: Place, schema: TSchema | undefined): Place => ({
  ...place,
  schema,
  untrusted: place.untrusted || isUntrusted(schema),
})

/** Of a text inside of a list; whoever needs more of it reads the one record. */
const LONGEST_IN_LIST = 1_500
/** Of all lines together. */
const LONGEST = 60_000
/** What only a program asks for. */
const LEFT_OUT = new Set(['updated_at', 'updatedAt'])

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A record of nothing but empty values is empty too. */
const isEmpty = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length === 0
  if (isFields(value)) return Object.values(value).every(isEmpty)
  return value === null || value === undefined || value === ''
}

/** What follows a name or a dash: the text behind it, or, where it has several lines, below it, one step in. */
const scalar = (value: unknown, { indent, inList, untrusted, quotation }: Place): string => {
  const whole = String(value)
  const text = inList ? cut(whole, LONGEST_IN_LIST) : whole
  const left = whole.length > text.length ? ` (${whole.length} characters in all)` : ''
  if (untrusted && typeof value === 'string') return ` ${quotation.quote(text)}${left}`
  return `${text.includes('\n') ? `\n${text.replace(/^/gm, `${indent}  `)}` : ` ${text}`}${left}`
}

const field = (name: string, value: unknown, place: Place): string => {
  const { indent } = place
  const inside = { ...place, indent: `${indent}  ` }
  if (isFields(value)) return `${indent}${name}:\n${fields(value, inside)}`
  if (!Array.isArray(value)) return `${indent}${name}:${scalar(value, place)}`
  const ofEntries = within({ ...inside, inList: true }, entryOf(place.schema))
  return [`${indent}${name} (${value.length}):`, ...value.map((one) => entry(one, ofEntries))].join('\n')
}

/** Its first line carries a dash, the others stand below. */
const entry = (value: unknown, place: Place): string => {
  const { indent } = place
  const text = isFields(value) ? ` ${fields(value, { ...place, indent: `${indent}  ` }).trimStart()}` : scalar(value, place)
  return `${indent}-${text}`
}

const fields = (value: Fields, place: Place): string =>
  Object.entries(value)
    .filter(([name, one]) => !isEmpty(one) && !LEFT_OUT.has(name))
    .map(([name, one]) => field(name, one, within(place, fieldOf(place.schema, name))))
    .join('\n')

/** `body`: a record in its wrapper, or a list and its cursor; `schema`: what the contract says of it. */
export const textOf = (body: Fields, schema: TSchema): string => {
  const none = Object.entries(body).filter(([, one]) => Array.isArray(one) && one.length === 0)
  const quotation = new Quotation()
  const place = within({ indent: '', inList: false, schema: undefined, untrusted: false, quotation }, schema)
  const lines = [...none.map(([name]) => `${name}: none`), fields(body, place)]
  const text = lines.filter((line) => line !== '').join('\n')
  if (text.length <= LONGEST) return quotation.explained(text)
  return `${quotation.explained(cut(text, LONGEST))}\nThis is cut: ask for fewer with a smaller limit.`
}
