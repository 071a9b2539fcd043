/** Replies as JSON, checked against the contract. */
import { Kind, type TObject, type TSchema } from '@sinclair/typebox'
import type { NamedOp } from '#contract/op'
import { warningsFor } from '#decisions/growth/item-warnings'
import type { QueryContext } from './call.ts'
import { seesNames, withCallersName, withoutNames } from './people-names.ts'
import { checkerOf } from './validate.ts'
import { withWarnings } from './warnings.ts'

/** The JSON of a reply or of one line of a download. Throws if it does not match the contract. */
export const serialise = (
  { id, output }: Pick<NamedOp, 'id' | 'output'>,
  reply: unknown,
): string => {
  requireValidReply({ id, output }, reply)
  return JSON.stringify(timesWriterOf(output)(reply))
}

/**
 * The same, with the warnings of items, and without names of people if the caller is not to see
 * them.
 */
export const serialiseFor = (
  caller: Pick<QueryContext, 'principal' | 'job' | 'networks'>,
  o: Pick<NamedOp, 'id' | 'output' | 'kind'>,
  reply: unknown,
): string => {
  const warned = withWarnings(o.output, reply, (item) => warningsFor(item, caller.networks))
  const named =
    o.kind === 'query' || caller.job ? warned : withCallersName(o.output, warned, caller)
  return serialise(o, seesNames(caller) ? named : withoutNames(o.output, named))
}

/** Throws if the reply does not match the operation's output schema. */
export const requireValidReply = (
  { id, output }: Pick<NamedOp, 'id' | 'output'>,
  reply: unknown,
): void => {
  const checker = checkerOf(output)
  if (checker.Check(reply)) return
  const wrong = checker.Errors(reply).First()
  throw new Error(
    `the reply of ${id} does not match its contract: ${wrong?.path} ${wrong?.message}`,
  )
}

/**
 * Copies the parts of a value that hold `Date`s, and writes those as text. The JSON is the same,
 * but made five times as fast: the engine's short way takes plain data only, and a `Date` has a
 * `toJSON`.
 */
type TimesWriter = (value: unknown) => unknown

const known = new WeakMap<TSchema, TimesWriter>()

const timesWriterOf = (schema: TSchema): TimesWriter => {
  const before = known.get(schema)
  if (before) return before
  const writer = writerFor(schema) ?? asItIs
  known.set(schema, writer)
  return writer
}

const asItIs: TimesWriter = (value) => value

/** Undefined if the schema declares no times. */
const writerFor = (schema: TSchema): TimesWriter | undefined => {
  if (schema[Kind] === 'Timestamp') return writeTime
  if (schema.anyOf) return writerOfForms(schema.anyOf)
  if (schema.items) return writerOfEntries(schema.items)
  return schema.properties ? writerOfFields((schema as TObject).properties) : undefined
}

const writeTime: TimesWriter = (value) => (value instanceof Date ? value.toJSON() : value)

/** A value has one of the forms; the others find no `Date`s in it. */
const writerOfForms = (forms: TSchema[]): TimesWriter | undefined => {
  const writers = forms.flatMap((form) => writerFor(form) ?? [])
  if (writers.length < 2) return writers[0]
  return (value) => writers.reduce((written, write) => write(written), value)
}

const writerOfEntries = (entry: TSchema): TimesWriter | undefined => {
  const write = writerFor(entry)
  return write && ((value) => (Array.isArray(value) ? value.map(write) : value))
}

const writerOfFields = (properties: Record<string, TSchema>): TimesWriter | undefined => {
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const write = writerFor(schema)
    return write ? [{ name, write }] : []
  })
  if (fields.length === 0) return undefined
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const copy: Record<string, unknown> = { ...value }
    for (const { name, write } of fields)
      if (copy[name] !== undefined && copy[name] !== null) copy[name] = write(copy[name])
    return copy
  }
}
