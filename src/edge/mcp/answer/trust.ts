/**
 * Who wrote the words in an answer, according to its schema: what the contract says about its
 * fields and the records around them.
 */
import type { TSchema } from '@sinclair/typebox'
import { alternativesOf, declaredField, entryOf } from './declared-fields.ts'

type Fields = Record<string, unknown>

interface Around {
  record: Fields
  schema: TSchema | undefined
}

export interface SchemaPlace {
  /** The schema of the value. Undefined if none is declared. */
  schema: TSchema | undefined
  /** Whether strangers may have written the value or parts of it. */
  untrusted: boolean
  /** The name of the field. */
  name: string
  /** The records that contain it, the innermost last. */
  around: readonly Around[]
}

/**
 * `free`: words of strangers. `named`: something that strangers chose, such as a handle or an
 * address. `ours`: our ids, times and names.
 */
export type Words = 'ours' | 'free' | 'named'

interface Condition {
  /**
   * A field of a surrounding record, such as `untrusted`, or of a record inside one, such as
   * `job.taint`.
   */
  field: string
  /** Also requires that an entry of the list begins with this. */
  begins?: string
  /** Does not hold if a field of a surrounding record has this value. */
  unless?: [field: string, value: string]
}

const none = Symbol('none')

/**
 * The value of a field of the innermost record that declares it. A declared field that is absent
 * counts as empty.
 */
const fieldAround = (around: readonly Around[], path: string): unknown => {
  const [first, ...rest] = path.split('.') as [string, ...string[]]
  const at = around.findLast(
    ({ record, schema }) => first in record || declaredField(schema, first) !== undefined,
  )
  if (!at) return none
  const value = at.record[first]
  if (rest.length === 0) return value
  return typeof value === 'object' && value !== null ? (value as Fields)[rest[0]!] : none
}

/** Words count as untrusted unless something says that they are ours. */
const holds = ({ field, begins, unless }: Condition, around: readonly Around[]): boolean => {
  if (unless && fieldAround(around, unless[0]) === unless[1]) return false
  const value = fieldAround(around, field)
  if (value === none) return true
  if (!Array.isArray(value)) return Boolean(value)
  return begins === undefined
    ? value.length > 0
    : value.some((one) => typeof one === 'string' && one.startsWith(begins))
}

const isUntrusted = (schema: TSchema | undefined, around: readonly Around[]): boolean =>
  schema !== undefined &&
  [schema, ...alternativesOf(schema)].some((form) => {
    if (form['x-untrusted'] !== true) return false
    const condition = form['x-untrusted-if'] as Condition | undefined
    return condition === undefined || holds(condition, around)
  })

/** The place of a whole answer. */
export const schemaPlace = (schema: TSchema): SchemaPlace => ({
  schema,
  untrusted: isUntrusted(schema, []),
  name: '',
  around: [],
})

export const fieldPlace = (
  { schema, untrusted, around: outside }: SchemaPlace,
  record: Fields,
  name: string,
): SchemaPlace => {
  const around = [...outside, { record, schema }]
  const field = declaredField(schema, name, record)
  return { schema: field, untrusted: untrusted || isUntrusted(field, around), name, around }
}

export const entryPlace = ({ schema, untrusted, name, around }: SchemaPlace): SchemaPlace => {
  const entry = entryOf(schema)
  return { schema: entry, untrusted: untrusted || isUntrusted(entry, around), name, around }
}

const OURS = new Set(['uuid', 'date-time', 'time-zone'])
/**
 * Fields of undeclared records that hold sentences. In other fields, a value of several words
 * counts as a sentence.
 */
const SENTENCES = new Set(['text', 'title', 'name', 'error', 'description'])

/** Who wrote the text at that place. */
export const wordsAt = ({ schema, untrusted, name }: SchemaPlace, text: string): Words => {
  if (!untrusted || text.trim() === '') return 'ours'
  const declared =
    schema &&
    [schema, ...alternativesOf(schema)].filter(
      ({ type, anyOf }) => type === 'string' || anyOf !== undefined,
    )
  if (!declared || declared.length === 0)
    return SENTENCES.has(name) || /\s/.test(text) ? 'free' : 'named'
  if (declared.some(({ 'x-untrusted-as': as, format }) => as === 'name' || format === 'uri'))
    return 'named'
  return declared.some(
    ({ enum: values, pattern, format }) =>
      values !== undefined || pattern !== undefined || OURS.has(format),
  )
    ? 'ours'
    : 'free'
}
