/**
 * Who sees the names of the people of a workspace beside what they wrote and decided: those who may
 * list its members, which are people who are signed in. Keys and the agent see the ids alone. Names
 * of keys are no names of people.
 */
import type { TSchema } from '@sinclair/typebox'
import { NamedAuthorSchema } from '#contract/shapes'
import type { QueryContext } from './call.ts'

export const seesNames = ({ principal, job }: Pick<QueryContext, 'principal' | 'job'>): boolean =>
  job === undefined && (principal.kind === 'session' || principal.kind === 'system')

const known = new WeakMap<TSchema, boolean>()

/** Whether a value of the schema can name an author. */
const namesAuthors = (schema: TSchema): boolean => {
  const before = known.get(schema)
  if (before !== undefined) return before
  const inside: TSchema[] = [
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
    ...Object.values(schema.properties ?? {}),
  ]
  const found = schema.title === NamedAuthorSchema.title || inside.some(namesAuthors)
  known.set(schema, found)
  return found
}

const formOf = (schema: TSchema): TSchema =>
  (schema.anyOf as TSchema[] | undefined)?.find(namesAuthors) ?? schema

/** A copy of a reply in which people have no names. Shares what has no authors. */
export const withoutNames = (schema: TSchema, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || !namesAuthors(schema)) return value
  const { title, items, properties } = formOf(schema)
  if (title === NamedAuthorSchema.title)
    return (value as { kind: string }).kind === 'person' ? { ...value, name: null } : value
  if (Array.isArray(value)) return value.map((one) => withoutNames(items, one))
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      properties[name] ? withoutNames(properties[name], one) : one,
    ]),
  )
}
