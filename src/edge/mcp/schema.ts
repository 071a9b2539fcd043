/**
 * The contract's schemas as tools show them. Every character of a tool list is read by a model, so what comes in is shown with
 * its bounds, and what goes out by names and types alone; a record that the list has shown before is only named.
 */
import type { TSchema } from '@sinclair/typebox'

type Json = Record<string, unknown>

/** Those that JSON schema defines; clients warn about others or refuse them. */
const FORMATS = new Set(['uuid', 'date-time', 'uri'])
const BOUNDS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'default'] as const
/** Says no more than the format or the bounds beside it. */
const SAID_BESIDE = new Set(['A uuid.', 'An ISO 8601 timestamp.', 'How many records, 25 when absent.'])

const isNull = (schema: TSchema): boolean => schema.type === 'null'

/** `anyOf` of a type and null as one schema, because many clients refuse unions. */
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

/** What a caller has to know to call. `said`: the titles of objects that inputs of the list have spelled out so far; added to. */
export const inputSchema = (schema: TSchema, said: Set<string>): Json => {
  const next = (one: TSchema) => inputSchema(one, said)
  if (schema.anyOf && schema.type === undefined) return inUnion(schema, next)
  if (said.has(schema.title ?? '')) return { type: 'object', title: schema.title, description: 'As in the tool before.' }
  if (schema.title) said.add(schema.title)
  const shown: Json = { type: schema.type, ...(schema.title ? { title: schema.title } : {}) }
  if (schema.description && !SAID_BESIDE.has(schema.description)) shown.description = schema.description
  if (schema.enum) shown.enum = schema.enum
  if (FORMATS.has(schema.format)) shown.format = schema.format
  for (const bound of BOUNDS) if (schema[bound] !== undefined) shown[bound] = schema[bound]
  if (schema.items) shown.items = next(schema.items)
  if (schema.type !== 'object') return shown
  if (schema.properties) shown.properties = map(schema.properties, next)
  if (schema.required?.length > 0) shown.required = schema.required
  if (schema.additionalProperties === false) shown.additionalProperties = false
  return shown
}

/** `shown`: the titles of records that the list has spelled out so far; added to. */
export const outputSchema = (schema: TSchema, shown: Set<string>): Json => ({
  type: 'object',
  properties: map(schema.properties, (one) => fieldsOf(one, shown)),
})

/** What an answer is made of: each record with its fields, but for the times that all have. What lies within a field, the answer itself shows. */
const fieldsOf = (schema: TSchema, shown: Set<string>): Json => {
  const next = (one: TSchema) => fieldsOf(one, shown)
  if (schema.anyOf) return inUnion(schema, next)
  if (schema.type === 'array') return { type: 'array', items: next(schema.items) }
  if (schema.type !== 'object' || !schema.properties) return typeOf(schema)
  const { title } = schema
  const named = title === undefined ? {} : { title }
  if (shown.has(title ?? '') || schema['x-named']) return { type: 'object', ...named }
  if (title !== undefined) shown.add(title)
  const { created_at: _, updated_at: __, ...listed } = schema.properties
  return { type: 'object', ...named, properties: map(listed, (one) => (holdsRecord(one) ? next(one) : typeOf(one))) }
}

/** Of a record that is known by name. */
const holdsRecord = (schema: TSchema): boolean =>
  schema.title !== undefined || (schema.anyOf ?? (schema.items ? [schema.items] : [])).some((one: TSchema) => holdsRecord(one))

const typeOf = (schema: TSchema): Json => {
  if (schema.anyOf) return {}
  if (schema.enum) return { type: 'string' }
  if (schema.type === 'array') return { type: 'array', items: typeOf(schema.items) }
  return schema.type === undefined ? {} : { type: schema.type }
}
