/**
 * The contract's schemas, shortened for tool lists, because a model pays for every character.
 * Inputs keep only the bounds that say something. An object that the list has already spelled out
 * is described in words. Outputs are just names and types.
 */
import type { TObject, TSchema } from '@sinclair/typebox'

type Json = Record<string, unknown>

/** Formats defined by JSON Schema; clients warn about others or refuse them. */
const FORMATS = new Set(['uuid', 'date-time', 'uri'])
const BOUNDS = [
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'default',
] as const
/**
 * Bounds that a model might cross. Other bounds would be paid for on every reading, and a refusal
 * names them anyway.
 */
const isTelling = (
  bound: (typeof BOUNDS)[number],
  { [bound]: value, description }: TSchema,
): boolean => {
  if (bound === 'minLength') return value > 1
  if (bound === 'minimum') return value > 0
  if (bound === 'maximum') return value < 1e9
  return !(bound === 'maxLength' && description === CURSOR)
}
/** A cursor is passed back as it was given. */
const CURSOR = 'The previous next_cursor.'
/** Descriptions that only repeat the format or the bounds. */
const REDUNDANT = new Set(['A uuid.', 'An ISO 8601 timestamp.', 'Page size. Default 25.'])

const isNull = (schema: TSchema): boolean => schema.type === 'null'

/** Writes `anyOf` of a type and null as one schema, because many clients refuse unions. */
const orNull = (schema: Json): Json => ({
  ...schema,
  ...(schema.type === undefined ? {} : { type: [schema.type, 'null'] }),
  ...(Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}),
})

const inUnion = (schema: TSchema, show: (one: TSchema) => Json): Json => {
  const others = (schema.anyOf as TSchema[]).filter((one) => !isNull(one))
  if (others.length === 1) return orNull(show(others[0]!))
  return { anyOf: (schema.anyOf as TSchema[]).map(show) }
}

const map = (properties: Record<string, TSchema>, show: (one: TSchema) => Json): Json =>
  Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, show(one)]))

/** A field and its possible values, as text: `kind: cron | signal`. */
const fieldInWords = (name: string, { enum: values, type }: TSchema): string => {
  if (values) return `${name}: ${(values as string[]).join(' | ')}`
  return type === 'string' || type === undefined ? name : `${name}: ${type}`
}

/**
 * The fields of an object on one line, which takes a third of the space of its schema. Optional
 * fields end in a question mark.
 */
const inWords = ({ properties, required = [] }: TObject): string => {
  const fields = Object.entries(properties).map(([name, one]) =>
    fieldInWords(required.includes(name) ? name : `${name}?`, one),
  )
  return `{${fields.join('; ')}}`
}

/**
 * A tool's input. `titles`: the titles of objects that the list has already spelled out, which are
 * now described in words. Adds its own titles.
 */
export const inputSchema = (schema: TSchema, titles: Set<string>): Json => {
  const next = (one: TSchema) => inputSchema(one, titles)
  if (schema.anyOf && schema.type === undefined) return inUnion(schema, next)
  if (titles.has(schema.title ?? ''))
    return { type: 'object', description: inWords(schema as TObject) }
  if (schema.title) titles.add(schema.title)
  const shown: Json = { type: schema.type, ...(schema.title ? { title: schema.title } : {}) }
  if (schema.description && !REDUNDANT.has(schema.description))
    shown.description = schema.description
  if (schema.enum) shown.enum = schema.enum
  if (FORMATS.has(schema.format)) shown.format = schema.format
  for (const bound of BOUNDS)
    if (schema[bound] !== undefined && isTelling(bound, schema)) shown[bound] = schema[bound]
  if (schema.items) shown.items = next(schema.items)
  if (schema.type !== 'object') return shown
  if (schema.properties) shown.properties = map(schema.properties, next)
  if (schema.required?.length > 0) shown.required = schema.required
  return shown
}

/**
 * A tool's output: the names of its fields, and what each contains. Records show their own fields;
 * spelling them out would double the list.
 */
export const outputSchema = (schema: TSchema): Json => ({
  type: 'object',
  properties: map(schema.properties, typeOf),
})

const typeOf = ({ type, anyOf }: TSchema): Json => (anyOf || type === undefined ? {} : { type })
