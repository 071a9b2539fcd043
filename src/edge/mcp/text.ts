/**
 * A record as a few lines that a model can act on. Clients that know no structured content see only this, so it leaves out what
 * is empty and cuts only long texts inside of lists, saying so.
 */
import { cut } from './sized.ts'

type Fields = Record<string, unknown>

interface Place {
  indent: string
  inList: boolean
}

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
const scalar = (value: unknown, { indent, inList }: Place): string => {
  const whole = String(value)
  const text = inList ? cut(whole, LONGEST_IN_LIST) : whole
  const left = whole.length > text.length ? ` (${whole.length} characters in all)` : ''
  return `${text.includes('\n') ? `\n${text.replace(/^/gm, `${indent}  `)}` : ` ${text}`}${left}`
}

const field = (name: string, value: unknown, place: Place): string => {
  const { indent } = place
  const inside = { ...place, indent: `${indent}  ` }
  if (isFields(value)) return `${indent}${name}:\n${fields(value, inside)}`
  if (!Array.isArray(value)) return `${indent}${name}:${scalar(value, place)}`
  return [`${indent}${name} (${value.length}):`, ...value.map((one) => entry(one, { ...inside, inList: true }))].join('\n')
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
    .map(([name, one]) => field(name, one, place))
    .join('\n')

/** `body`: a record in its wrapper, or a list and its cursor. */
export const textOf = (body: Fields): string => {
  const none = Object.entries(body).filter(([, one]) => Array.isArray(one) && one.length === 0)
  const lines = [...none.map(([name]) => `${name}: none`), fields(body, { indent: '', inList: false })]
  const text = lines.filter((line) => line !== '').join('\n')
  return text.length <= LONGEST ? text : `${cut(text, LONGEST)}\nThis is cut: ask for fewer with a smaller limit.`
}
