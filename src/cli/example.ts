/** Examples for `--help`, generated from the contract. */
import type { TSchema } from '@sinclair/typebox'
import { type NamedOp, pathParams } from '#contract/op'
import { argvOf } from './argv.ts'
import { choicesOf, requiredOf } from './fields.ts'
import { lineOf } from './line.ts'

export const EXAMPLE_ID = '018f47a0-7c1e-7a52-9d3e-1b2f6c0a4e11'

const forms: Record<string, string> = {
  uuid: EXAMPLE_ID,
  'date-time': '2027-03-01T09:00:00+01:00',
  'time-zone': 'Europe/Berlin',
  language: 'en',
  uri: 'https://example.com/a',
  email: 'ada@example.com',
  'tool-name': 'growth_create_batch',
  'tool-rule': 'growth_create_batch',
}

const LONGEST = 40

const textOf = ({ format, minLength = 1, maxLength = LONGEST }: TSchema): string =>
  forms[format ?? ''] ??
  'Every delay starts at the dock.'.padEnd(minLength, '!').slice(0, Math.max(maxLength, minLength))

/** How many fields of an object are shown if none is required. */
const MAX_FIELDS = 2

/** The required fields or, if there are none, the first fields. */
const sampleObject = ({ properties = {}, required = [] }: TSchema): Record<string, unknown> => {
  const names: string[] =
    required.length > 0 ? required : Object.keys(properties).slice(0, MAX_FIELDS)
  return Object.fromEntries(names.map((name) => [name, sample(properties[name])]))
}

const sample = (schema: TSchema): unknown => {
  if (schema.examples) return (schema.examples as unknown[])[0]
  if (schema.default !== undefined) return schema.default
  if (schema.anyOf) return sample((schema.anyOf as TSchema[]).find(({ type }) => type !== 'null')!)
  const [word] = choicesOf(schema) ?? []
  if (word !== undefined) return word
  if (schema.type === 'string') return textOf(schema)
  if (schema.type === 'boolean') return true
  if (schema.type === 'array') return schema.items ? [sample(schema.items as TSchema)] : []
  return schema.type === 'integer' || schema.type === 'number'
    ? (schema.minimum ?? 1)
    : sampleObject(schema)
}

const MAX_OPTIONS = 3

const NEVER_SHOWN = new Set(['cursor'])

/** Valid inputs: the shortest one, if it does anything, and a longer one, if possible. */
const inputsOf = (o: NamedOp): Record<string, unknown>[] => {
  const properties = o.input.properties as Record<string, TSchema>
  const inPath = pathParams(o.path)
  const needed = requiredOf(o)
  const optional = Object.keys(properties)
    .filter((name) => !inPath.includes(name) && !needed.includes(name) && !NEVER_SHOWN.has(name))
    .slice(0, MAX_OPTIONS)
  const isTrivial =
    ['PUT', 'PATCH'].includes(o.method) && needed.length === 0 && optional.length > 0
  const examples = [
    ...(isTrivial ? [] : [needed]),
    ...(optional.length > 0 ? [[...needed, ...optional]] : []),
  ]
  return examples.map((names) =>
    Object.fromEntries(
      [...inPath, ...names].map((name) => [
        name,
        sample((properties[name] ?? { type: 'string' }) as TSchema),
      ]),
    ),
  )
}

/** The words after the command, quoted for a shell. */
export const examplesOf = (o: NamedOp): string[] =>
  inputsOf(o).map((input) => lineOf(argvOf(o, input)))
