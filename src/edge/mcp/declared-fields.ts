/** Lookups of fields in an operation's schema. */
import type { TObject, TSchema } from '@sinclair/typebox'

const objectIn = (schema: TSchema): TObject | undefined => {
  if (schema.properties) return schema as TObject
  return (schema.anyOf as TSchema[] | undefined)?.map(objectIn).find((one) => one !== undefined)
}

/** The value without the fields that the schema does not declare; unchanged where the schema declares no fields. */
export const declared = (schema: TSchema, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return schema.items ? value.map((one) => declared(schema.items, one)) : value
  const fields = objectIn(schema)?.properties
  if (!fields) return value
  const known = Object.entries(value).filter(([name]) => Object.hasOwn(fields, name))
  return Object.fromEntries(known.map(([name, one]) => [name, declared(fields[name]!, one)]))
}

const formsOf = (schema: TSchema | undefined): TSchema[] =>
  (schema?.anyOf as TSchema[] | undefined)?.flatMap(formsOf) ?? (schema ? [schema] : [])

/** The schema of a field; undefined if none is declared. */
export const fieldOf = (schema: TSchema | undefined, name: string): TSchema | undefined =>
  formsOf(schema).find(({ properties }) => properties && Object.hasOwn(properties, name))?.properties[name]

/** The schema of a list's entries. */
export const entryOf = (schema: TSchema | undefined): TSchema | undefined => formsOf(schema).find(({ items }) => items)?.items

/** Whether strangers may have written the value: see `untrusted` in the contract. */
export const isUntrusted = (schema: TSchema | undefined): boolean =>
  schema?.['x-untrusted'] === true || formsOf(schema).some((form) => form['x-untrusted'] === true)
