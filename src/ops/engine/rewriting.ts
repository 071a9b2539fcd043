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

  const rewritten = (schema: TSchema, value: unknown, change: (value: V) => V): unknown => {
    if (typeof value !== 'object' || value === null || !holds(schema)) return value
    const form = (schema.anyOf as TSchema[] | undefined)?.find(holds) ?? schema
    if (isMeant(form)) return change(value as V)
    if (Array.isArray(value)) return value.map((one) => rewritten(form.items, one, change))
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        form.properties[name] ? rewritten(form.properties[name], one, change) : one,
      ]),
    )
  }
  return rewritten
}
