/** Declared records as surfaces show them. */
import { Kind, type Static, type TSchema } from '@sinclair/typebox'
import type { Declared, Field, ShownRowOf } from './record.ts'

type MadeNames<Fs> = {
  [Name in keyof Fs]: Fs[Name] extends { from: 'view' | 'elsewhere' } ? Name : never
}[keyof Fs]

/** What the view gets from a row alone. */
type ViewOf<R extends Declared> = Omit<Static<R['schema']>, MadeNames<R['fields']>>

const isTime = (schema: TSchema | undefined): boolean =>
  schema?.[Kind] === 'Timestamp' || (schema?.anyOf ?? []).some((one: TSchema) => isTime(one))

/** The fields of an object that hold times, which are text in JSON. */
const timesIn = (schema: TSchema): string[] => {
  const object: TSchema | undefined = schema.anyOf
    ? schema.anyOf.find(({ type }: TSchema) => type === 'object')
    : schema
  return Object.entries<TSchema>(object?.properties ?? {}).flatMap(([name, one]) =>
    isTime(one) ? [name] : [],
  )
}

type Show = (value: unknown) => unknown

const withTimes = (names: readonly string[]): Show | undefined => {
  if (names.length === 0) return undefined
  return (value) => {
    if (value === null || value === undefined) return null
    const shown: Record<string, unknown> = { ...value }
    for (const name of names)
      if (shown[name] !== null) shown[name] = new Date(shown[name] as string)
    return shown
  }
}

/**
 * Makes views of rows. Names are assigned one by one, always in the same order. Copying an object
 * without some of its fields costs the engine several times as much.
 */
export const viewOf = <R extends Declared>(declared: R): ((row: ShownRowOf<R>) => ViewOf<R>) => {
  const fields = Object.entries<Field>(declared.fields).flatMap(
    ([name, { shown, from, type }]): [string, string, Show?][] =>
      shown && from !== 'view' && from !== 'elsewhere'
        ? [
            [
              declared.shown[name]!,
              name,
              type === 'jsonb' || !type ? withTimes(timesIn(shown)) : undefined,
            ],
          ]
        : [],
  )
  return (row) => {
    const view: Record<string, unknown> = {}
    for (const [as, name, show] of fields) {
      const value = (row as Record<string, unknown>)[name]
      view[as] = show ? show(value) : (value ?? null)
    }
    return view as never
  }
}
