/** Lookups of fields in an operation's schema. */
import type { TObject, TSchema } from '@sinclair/typebox'

/** The result of `make` for a schema, computed once for each. */
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

export const alternativesOf = (schema: TSchema): TSchema[] =>
  (schema.anyOf as TSchema[] | undefined)?.flatMap(alternativesOf) ?? [schema]

interface RecordForm {
  fields: ReadonlyMap<string, TSchema>
  /** Fields whose possible values the form lists. */
  kinds: readonly [name: string, values: readonly unknown[]][]
}

const recordFormsOf = oncePerSchema((schema): RecordForm[] =>
  alternativesOf(schema).flatMap(({ properties }) => {
    if (!properties) return []
    const fields = Object.entries(properties as TObject['properties'])
    return [
      {
        fields: new Map(fields),
        kinds: fields.flatMap(([name, one]) => (one.enum ? [[name, one.enum as unknown[]]] : [])),
      },
    ]
  }),
)

/** The forms that fit a record. All forms if none fits. */
const fittingForms = (
  schema: TSchema,
  record: Record<string, unknown> | undefined,
): RecordForm[] => {
  const forms = recordFormsOf(schema)
  if (!record || forms.length < 2) return forms
  const fitting = forms.filter(({ kinds }) =>
    kinds.every(([name, values]) => !(name in record) || values.includes(record[name])),
  )
  return fitting.length > 0 ? fitting : forms
}

const entriesOf = oncePerSchema(
  (schema): TSchema | undefined => alternativesOf(schema).find(({ items }) => items)?.items,
)

/**
 * The schema of a field, in the form that fits the record. Undefined if the field is not declared.
 */
export const declaredField = (
  schema: TSchema | undefined,
  name: string,
  record?: Record<string, unknown>,
): TSchema | undefined =>
  schema &&
  fittingForms(schema, record)
    .find(({ fields }) => fields.has(name))
    ?.fields.get(name)

/** The schema of a list's entries. */
export const entryOf = (schema: TSchema | undefined): TSchema | undefined =>
  schema && entriesOf(schema)
