/**
 * A record as a few lines that a model can act on. Clients that know no structured content see only this, so it leaves out what
 * is empty and cuts only long texts inside of lists, saying so.
 */

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Of a text inside of a list; whoever needs more of it reads the one record. */
const LONGEST_IN_LIST = 1_500
/** Of all lines together. */
const LONGEST = 60_000

/** An object of nothing but empty values is empty too. */
const isEmpty = (value: Json): boolean => {
  if (value === null || value === '') return true
  return typeof value === 'object' && Object.values(value).every((one) => !Array.isArray(value) && isEmpty(one))
}

/** What only a program asks for. */
const LEFT_OUT = new Set(['updated_at', 'updatedAt'])

const cut = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more)`)

/** On one line where it has one; else below its name, one step in. */
const scalar = (value: boolean | number | string, { indent, inList }: Place): string => {
  const text = inList ? cut(String(value), LONGEST_IN_LIST) : String(value)
  return text.includes('\n') ? `\n${text.replace(/^/gm, `${indent}  `)}` : text
}

interface Place {
  indent: string
  inList: boolean
}

const field = (name: string, value: Json, place: Place): string => {
  const { indent } = place
  if (value === null || typeof value !== 'object') return `${indent}${name}: ${scalar(value ?? '', place)}`
  if (Array.isArray(value)) {
    const entries = value.map((entry) => item(entry, { indent: `${indent}  `, inList: true }))
    return `${indent}${name} (${value.length}):\n${entries.join('\n')}`
  }
  return `${indent}${name}:\n${fields(value, { ...place, indent: `${indent}  ` })}`
}

/** A list's entry: its first line carries a dash, the others stand below. */
const item = (value: Json, place: Place): string => {
  const { indent } = place
  if (value === null || typeof value !== 'object') return `${indent}- ${scalar(value ?? '', place)}`
  const lines = fields(value as { [name: string]: Json }, { ...place, indent: `${indent}  ` })
  return `${indent}- ${lines.trimStart()}`
}

const fields = (value: { [name: string]: Json }, place: Place): string =>
  Object.entries(value)
    .filter(([name, one]) => !isEmpty(one) && !LEFT_OUT.has(name))
    .map(([name, one]) => field(name, one, place))
    .join('\n')

/** `body`: a record's wrapper, or a list and its cursor. */
export const textOf = (body: Json): string => {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return JSON.stringify(body)
  const empty = Object.entries(body).filter(([name, one]) => isEmpty(one) && Array.isArray(one) && !LEFT_OUT.has(name))
  const lines = [...empty.map(([name]) => `${name}: none`), fields(body, { indent: '', inList: false })]
  const text = lines.filter((line) => line !== '').join('\n')
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}\n… cut here: ask for fewer with a smaller limit`
}
