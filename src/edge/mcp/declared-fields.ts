/** Lookups of fields in an operation's schema. */
import type { TObject, TSchema } from '@sinclair/typebox'

/** What `make` gives for a schema, made once for each. */
const oncePerSchema = <T>(make: (schema: TSchema) => T): ((schema: TSchema) => T) => {
  const made = new WeakMap<TSchema, { value: T }>()
  return (schema) => {
    const known = made.get(schema)
    if (known) return known.value
    const value = make(schema)
    made.set(schema, { value })
    return value
  }
}

const formsOf = (schema: TSchema): TSchema[] => (schema.anyOf as TSchema[] | undefined)?.flatMap(formsOf) ?? [schema]

const fieldsOf = oncePerSchema((schema) => {
  const fields = new Map<string, TSchema>()
  for (const { properties } of formsOf(schema))
    for (const [name, one] of Object.entries((properties ?? {}) as TObject['properties'])) if (!fields.has(name)) fields.set(name, one)
  return fields
})

const entriesOf = oncePerSchema((schema): TSchema | undefined => formsOf(schema).find(({ items }) => items)?.items)

const untrusted = oncePerSchema(
  (schema): boolean => schema['x-untrusted'] === true || formsOf(schema).some((form) => form['x-untrusted'] === true),
)

/** The schema of a field; undefined if none is declared. */
export const fieldOf = (schema: TSchema | undefined, name: string): TSchema | undefined => schema && fieldsOf(schema).get(name)

/** The schema of a list's entries. */
export const entryOf = (schema: TSchema | undefined): TSchema | undefined => schema && entriesOf(schema)

/** Whether strangers may have written the value: see `untrusted` in the contract. */
export const isUntrusted = (schema: TSchema | undefined): boolean => schema !== undefined && untrusted(schema)
