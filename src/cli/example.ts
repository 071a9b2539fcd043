/** Examples for `--help`, made from what the contract says of each field. */
import type { TSchema } from '@sinclair/typebox'
import { type NamedOp, pathParams } from '#contract/op'
import { argvOf } from './argv.ts'
import { choicesOf, type Field, fieldsOf, requiredOf } from './fields.ts'

const forms: Record<string, string> = {
  uuid: '018f47a0-7c1e-7a52-9d3e-1b2f6c0a4e11',
  'date-time': '2027-03-01T09:00:00+01:00',
  'time-zone': 'Europe/Berlin',
  language: 'en',
  uri: 'https://example.com/a',
  email: 'ada@example.com',
}

const LONGEST = 40

const textOf = ({ format, minLength = 1, maxLength = LONGEST }: TSchema): string =>
  forms[format ?? ''] ?? 'Every delay starts at the dock.'.padEnd(minLength, '!').slice(0, Math.max(maxLength, minLength))

const sample = (schema: TSchema): unknown => {
  if (schema.examples) return (schema.examples as unknown[])[0]
  if (schema.default !== undefined) return schema.default
  const [word] = choicesOf(schema) ?? []
  if (word !== undefined) return word
  if (schema.type === 'string') return textOf(schema)
  if (schema.type === 'boolean') return true
  if (schema.type === 'array') return schema.items ? [sample(schema.items as TSchema)] : []
  return schema.type === 'integer' || schema.type === 'number' ? (schema.minimum ?? 1) : {}
}

const put = (input: Record<string, unknown>, { path, schema, many }: Field): void => {
  const value = schema.type === 'array' || !many ? sample(schema) : [sample(schema)]
  const [last = '', ...parents] = [...path].reverse()
  const parent = parents.reverse().reduce<Record<string, unknown>>((at, name) => {
    at[name] ??= {}
    return at[name] as Record<string, unknown>
  }, input)
  parent[last] = value
}

const PLAIN = /^[\w@%+=:,./-]+$/

/** As a POSIX shell takes it. */
export const quoted = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

const MOST_OPTIONS = 3

/** The shortest call, and one that uses a few options, where there are any. Words after the command. */
export const examplesOf = (o: NamedOp): string[] => {
  const base = Object.fromEntries(pathParams(o.path).map((name) => [name, sample(o.input.properties[name] ?? { type: 'string' })]))
  const fields = fieldsOf(o)
  const needed = fields.filter(({ path }) => requiredOf(o).includes(path[0]!))
  const optional = fields.filter((field) => !needed.includes(field) && field.path.at(-1) !== 'cursor').slice(0, MOST_OPTIONS)
  const inputs = [needed, ...(optional.length > 0 ? [[...needed, ...optional]] : [])].map((chosen) => {
    const input: Record<string, unknown> = structuredClone(base)
    for (const field of chosen) put(input, field)
    return input
  })
  return inputs.map((input) => argvOf(o, input).map(quoted).join(' '))
}
