/** Reads an exported record as a row of its table, by the schema of the contract. */
import { Type as T, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import {
  type Declared,
  exportedOf,
  type Field,
  isNullable,
  type RowOf,
} from '#contract/records/record'
import { storable } from '#kernel/storable'

type Text<V> = Extract<V, Date> extends never ? V : string | Extract<V, null>
/** A row as JSON has it: its times are texts. */
export type ExportedRow<R> = { [Name in keyof RowOf<R>]: Text<RowOf<R>[Name]> }

const MOST_TEXT = 20_000
const MOST_ENTRIES = 2_000
const MOST_DEPTH = 24
const INT32 = 2_147_483_647
const [FROM, TO] = [Date.UTC(1970, 0), Date.UTC(2200, 0)]

const time = T.String({ format: 'date-time' })
const byType: Record<NonNullable<Field['type']>, TSchema | undefined> = {
  uuid: T.String({ format: 'uuid' }),
  text: T.String(),
  integer: T.Integer({ minimum: -INT32, maximum: INT32 }),
  bigint: T.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  boolean: T.Boolean(),
  'timestamp with time zone': time,
  jsonb: T.Unknown(),
  'text[]': T.Array(T.String()),
  'integer[]': T.Array(T.Integer({ minimum: -INT32, maximum: INT32 })),
  bytea: undefined,
  tsvector: undefined,
}

const isNamed = (type: Field['type']): boolean => type === 'text' || type === 'jsonb'

const shapeOf = (field: Field): TSchema => {
  const held = isNamed(field.type) ? (field.of ?? field.shown) : undefined
  const shape = held ?? byType[field.type!] ?? T.Never()
  return isNullable(field) ? T.Union([shape, T.Null()]) : shape
}

/** `shapes`: of columns that hold more than surfaces show of them. */
export const rowSchema = (
  record: Declared,
  shapes: Readonly<Record<string, TSchema>> = {},
): TSchema =>
  T.Object(
    Object.fromEntries(
      exportedOf(record).map((name) => [name, shapes[name] ?? shapeOf(record.fields[name]!)]),
    ),
    { additionalProperties: false },
  )

const ADDRESS = /(^|_)(url|link)$/
const isAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

/** What stands in unique indexes as others have named it: rows of an index have 2,704 bytes. */
const INDEXED = /(^|_)(post_id|external_id|network|occurrence|week|hook)$/
const MOST_INDEXED = 500

const faultOfText = (name: string, text: string, longest: number): string | undefined => {
  if (INDEXED.test(name) && Buffer.byteLength(text) > MOST_INDEXED)
    return `${name} has more than ${MOST_INDEXED} bytes`
  if (text.length > longest) return `${name} has more than ${longest} characters`
  if (storable(text) !== text) return `${name} has characters that cannot be stored`
  return ADDRESS.test(name) && !isAddress(text) ? `${name} is not a web address` : undefined
}

/** What no value of a record may have, wherever it stands in it; undefined if it is sound. */
const faultIn = (
  value: unknown,
  { name, depth, longest }: { name: string; depth: number; longest: number },
): string | undefined => {
  if (typeof value === 'string') return faultOfText(name, value, longest)
  if (value === null || typeof value !== 'object') return undefined
  if (depth === MOST_DEPTH) return `${name} is nested too deeply`
  const entries = Object.entries(value)
  if (entries.length > MOST_ENTRIES) return `${name} has more than ${MOST_ENTRIES} entries`
  for (const [key, one] of entries) {
    const path = Array.isArray(value) ? name : key
    const fault =
      (storable(key) === key ? undefined : `${name} has a name that cannot be stored`) ??
      faultIn(one, { name: path, depth: depth + 1, longest })
    if (fault !== undefined) return fault
  }
  return undefined
}

const faultOfTime = (record: Declared, row: Record<string, unknown>): string | undefined => {
  const wrong = exportedOf(record).find((name) => {
    if (record.fields[name]?.type !== 'timestamp with time zone' || row[name] === null) return false
    const ms = Date.parse(String(row[name]))
    return !(ms >= FROM && ms <= TO)
  })
  return wrong === undefined ? undefined : `${wrong} is out of range`
}

/** A uuid in upper case is the same one. */
const inLowerCase = (record: Declared, row: Record<string, unknown>): Record<string, unknown> => {
  for (const name of exportedOf(record))
    if (record.fields[name]?.type === 'uuid' && typeof row[name] === 'string')
      row[name] = row[name].toLowerCase()
  return row
}

/** Null in columns that later versions have added. */
const completed = (record: Declared, given: Record<string, unknown>): Record<string, unknown> => {
  const missing = exportedOf(record).filter(
    (name) => !Object.hasOwn(given, name) && isNullable(record.fields[name]!),
  )
  return { ...given, ...Object.fromEntries(missing.map((name) => [name, null])) }
}

export interface RowForm {
  record: Declared
  schema: TSchema
  /** The longest text, in UTF-16 code units. */
  longest?: number
}

/** Reads a record; a text says what is wrong with it. */
export const readRow = (
  { record, schema, longest = MOST_TEXT }: RowForm,
  given: Record<string, unknown>,
): Record<string, unknown> | string => {
  const fault = faultIn(given, { name: 'the record', depth: 0, longest })
  if (fault !== undefined) return fault
  const row = completed(record, given)
  if (Value.Check(schema, row)) return faultOfTime(record, row) ?? inLowerCase(record, row)
  const { path = '', message = '' } = Value.Errors(schema, row).First() ?? {}
  const said = /^Expected kind/.test(message) ? 'not an allowed value' : message.toLowerCase()
  return `${path.slice(1, 100) || 'the record'}: ${said}`
}
