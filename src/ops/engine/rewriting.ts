import type { TSchema } from '@sinclair/typebox'

/** Copies values, with a change of all that have certain schemas. Shares what holds none. */
export const rewriting = <V>(isMeant: (schema: TSchema) => boolean) => {
  const known = new WeakMap<TSchema, boolean>()

  const holds = (schema: TSchema): boolean => {
    const before = known.get(schema)
    if (before !== undefined) return before
    const { anyOf = [], items = [], properties = {} } = schema
    const found =
      isMeant(schema) || [...anyOf, items, ...Object.values(properties)].flat().some(holds)
    known.set(schema, found)
    return found
  }

  const knownFields = new WeakMap<TSchema, [name: string, schema: TSchema][]>()

  /** The fields of an object in which something may change: few of many. */
  const fieldsOf = (form: TSchema): [name: string, schema: TSchema][] => {
    const before = knownFields.get(form)
    if (before) return before
    const found = Object.entries<TSchema>(form.properties).filter(([, field]) => holds(field))
    knownFields.set(form, found)
    return found
  }

  const rewritten = (schema: TSchema, value: unknown, change: (value: V) => V): unknown => {
    if (typeof value !== 'object' || value === null || !holds(schema)) return value
    const form = (schema.anyOf as TSchema[] | undefined)?.find(holds) ?? schema
    if (isMeant(form)) return change(value as V)
    if (Array.isArray(value)) return value.map((one) => rewritten(form.items, one, change))
    const copy: Record<string, unknown> = { ...value }
    for (const [name, field] of fieldsOf(form))
      if (name in copy) copy[name] = rewritten(field, copy[name], change)
    return copy
  }
  return rewritten
}
