/** Inputs made from an operation's schema: a valid one, and invalid ones of every kind. */
import type { TObject, TSchema } from '@sinclair/typebox'
import { type NamedOp, pathParams } from '#contract/op'
import { newId } from '#kernel/ids'
import { checkerOf } from '#ops/engine/validate'

/** `needed`: only required fields. `whole`: every field, and one entry in each list. */
export type Extent = 'needed' | 'whole'

const DAY_MS = 86_400_000

const formats: Record<string, () => string> = {
  uuid: newId,
  'date-time': () => new Date(Date.now() + DAY_MS).toISOString(),
  'time-zone': () => 'Europe/Berlin',
  language: () => 'pt-BR',
  'tool-name': () => 'no_such_tool',
  'tool-rule': () => 'no_such_tool',
  uri: () => 'https://example.com/a',
  'clock-time': () => '09:00',
  name: () => 'Every delay starts at the dock',
}

const text = ({ format, minLength = 1, maxLength = 40 }: TSchema): string => {
  if (!format) return 'Every delay starts at the dock.'.padEnd(minLength, '!').slice(0, maxLength)
  const make = formats[format]
  if (!make)
    throw new Error(`test/support/contract/sample.ts knows no text of the format ${format}`)
  return make()
}

const isNeeded = (schema: TSchema, name: string): boolean => (schema.required ?? []).includes(name)

const object = (schema: TSchema, extent: Extent): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries((schema.properties ?? {}) as TObject['properties'])
      .filter(([name]) => extent === 'whole' || isNeeded(schema, name))
      .map(([name, child]) => [name, sampleValue(child, extent)]),
  )

const sampleValue = (schema: TSchema, extent: Extent): unknown => {
  if (schema.examples) return schema.examples[0]
  if (schema.enum) return schema.enum[0]
  if ('const' in schema) return schema.const
  if (schema.anyOf) return sampleValue(schema.anyOf[0], extent)
  if (schema.type === 'object') return object(schema, extent)
  if (schema.type === 'array') {
    const length = Math.max(schema.minItems ?? 0, extent === 'whole' ? 1 : 0)
    return Array.from({ length }, () => sampleValue(schema.items, extent))
  }
  if (schema.type === 'string') return text(schema)
  if (schema.type === 'boolean') return true
  return schema.minimum ?? 1
}

/**
 * A path gets the name of nothing, even if the contract has an example, which would name something
 * that exists.
 */
const unknownNames = ({ path, input }: NamedOp): Record<string, string> =>
  Object.fromEntries(
    pathParams(path).flatMap((name) =>
      input.properties[name]?.examples ? [[name, 'no_such_name']] : [],
    ),
  )
/** Whether an unknown id is an error. For deletions it is none where the API document says so. */
export const finds = (o: NamedOp): boolean =>
  pathParams(o.path).length > 0 && o.errors.includes('not_found')

/** A valid input. A field for which none can be guessed needs `examples` in the contract. */
export const sampleOf = (o: NamedOp, extent: Extent): Record<string, unknown> => {
  const input = { ...object(o.input, extent), ...unknownNames(o) }
  const wrong = checkerOf(o.input).Errors(input).First()
  if (wrong)
    throw new Error(
      `no valid input of ${o.id} could be made (${wrong.path} ${wrong.message}): give the field \`examples\``,
    )
  return input
}

export interface Fault {
  /** The field that the error must name, as a dotted path. */
  path: string
  fault: string
  /** The schema of the field. */
  schema: TSchema
  /** For `withValue`. */
  value: unknown
}

const anotherType = (schema: TSchema): unknown => {
  if (schema.type === 'string') return 7
  return schema.type === undefined ? undefined : 'x y'
}

const OTHER_FORMS: Record<string, string> = {
  name: 'a name\u202eturned',
  'file-name': 'no/such/file',
}

const beyond = (schema: TSchema): [string, unknown][] => [
  ['another type', anotherType(schema)],
  ['null', schema.type === undefined ? undefined : null],
  ['a word that is not one of those allowed', schema.enum && 'nonsense'],
  ['text of another form', schema.format && (OTHER_FORMS[schema.format] ?? 'no such thing')],
  ['too long a text', schema.maxLength && 'x'.repeat(schema.maxLength + 1)],
  ['too short a text', schema.minLength && 'x'.repeat(schema.minLength - 1)],
  ['too large a number', schema.maximum !== undefined ? schema.maximum + 1 : undefined],
  ['too small a number', schema.minimum !== undefined ? schema.minimum - 1 : undefined],
  ['a fraction', schema.type === 'integer' ? 1.5 : undefined],
  [
    'too many entries',
    schema.maxItems &&
      Array.from({ length: schema.maxItems + 1 }, () => sampleValue(schema.items, 'needed')),
  ],
  ['too few entries', schema.minItems && []],
]

const under = (parent: string, name: string): string => (parent ? `${parent}.${name}` : name)

/** Every way in which a value of the schema can be invalid, itself or inside. */
export const faultsOf = (schema: TSchema, path = ''): Fault[] => {
  if (schema.anyOf) return faultsOf(schema.anyOf[0], path).filter(({ value }) => value !== null)
  const own = beyond(schema)
    .filter(([, value]) => value !== undefined)
    .map(([fault, value]) => ({ path, fault, schema, value }))
  const inside = Object.entries((schema.properties ?? {}) as TObject['properties']).flatMap(
    ([name, child]) => faultsOf(child, under(path, name)),
  )
  const entries = schema.items ? faultsOf(schema.items, under(path, '0')) : []
  return [...own, ...inside, ...entries]
}

/** The paths of all text fields that accept any text: those without a format, except names. */
export const freeTexts = (o: NamedOp): string[] => [
  ...new Set(
    faultsOf(o.input)
      .filter(
        ({ schema }) =>
          schema.type === 'string' && (!schema.format || schema.format === 'name') && !schema.enum,
      )
      .map(({ path }) => path),
  ),
]

/** The input with the value at a dotted path; missing parents are made. */
export const withValue = (
  input: unknown,
  path: string,
  value: unknown,
): Record<string, unknown> => {
  const [name = '', ...rest] = path.split('.')
  const copy = Array.isArray(input) ? [...input] : { ...(input as object | undefined) }
  const below =
    rest.length > 0
      ? withValue(
          (input as Record<string, unknown> | undefined)?.[name] ?? emptyFor(rest),
          rest.join('.'),
          value,
        )
      : value
  return Object.assign(copy, { [name]: below }) as Record<string, unknown>
}

const emptyFor = ([next]: string[]): unknown => (next === '0' ? [] : {})
