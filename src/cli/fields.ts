/** The input of an operation as arguments and options. */
import type { TSchema } from '@sinclair/typebox'
import { type NamedOp, pathParams } from '#contract/op'
import { flagOf } from './names.ts'

export type FlagKind = 'text' | 'integer' | 'number' | 'boolean' | 'choice' | 'json'

/** A value somewhere in the input that an option can say. */
export interface FlagField {
  path: readonly string[]
  /** Without dashes. */
  flag: string
  kind: FlagKind
  /** A list: the option may be given several times, each time for one entry. */
  many: boolean
  /** A list that may not be empty. */
  filled: boolean
  /** `--no-…` says null. */
  nullable: boolean
  /** Of one value. */
  schema: TSchema
  description: string
  /** `-` and `@file` stand for text that is read: long texts and secrets. In others, such as handles, they stand for themselves. */
  readable: boolean
}

/** Texts that may be longer are often written elsewhere. */
const LONG_TEXT = 500
/** What others on the machine could read in the list of processes. */
const SECRET = /password|secret|token/i

/** The words of a choice; undefined for any other schema. */
export const choicesOf = (schema: TSchema): string[] | undefined => {
  const words = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  const isText = Array.isArray(words) && words.every((word) => typeof word === 'string')
  return isText ? words : undefined
}

const withoutNull = (schema: TSchema): { schema: TSchema; nullable: boolean } => {
  const options = schema.anyOf as TSchema[] | undefined
  if (!options) return { schema, nullable: false }
  const others = options.filter(({ type }) => type !== 'null')
  const words = others.map(({ const: word }) => word)
  const nullable = others.length < options.length
  if (others.length === 1) return { schema: others[0]!, nullable }
  return { schema: words.every((word) => typeof word === 'string') ? { ...schema, anyOf: undefined, enum: words } : schema, nullable }
}

/** How one value of it is written. */
export const kindOf = (schema: TSchema): FlagKind => {
  if (choicesOf(schema)) return 'choice'
  const { type } = schema
  if (type === 'string') return 'text'
  return type === 'integer' || type === 'number' || type === 'boolean' ? type : 'json'
}

const isLong = ({ format, maxLength = Number.POSITIVE_INFINITY }: TSchema): boolean => !format && maxLength >= LONG_TEXT

const hasOwnFields = (schema: TSchema): boolean => schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0

const fieldsIn = (outer: TSchema, path: readonly string[]): FlagField[] => {
  const { schema, nullable } = withoutNull(outer)
  if (hasOwnFields(schema))
    return Object.entries(schema.properties as Record<string, TSchema>).flatMap(([name, child]) => fieldsIn(child, [...path, name]))
  const entry = schema.type === 'array' ? (schema.items as TSchema | undefined) : undefined
  const one = entry ?? schema
  const kind = kindOf(one)
  const description = outer.description ?? schema.description ?? one.description ?? ''
  const readable = kind === 'json' || (kind === 'text' && (isLong(one) || SECRET.test(path.at(-1) ?? '')))
  const filled = (schema.minItems ?? 0) > 0
  return [{ path, flag: flagOf(path), kind, many: entry !== undefined, filled, nullable, schema: one, description, readable }]
}

/** What `--no-…` says of a field; undefined where there is no such option. */
export const noneOf = ({ kind, many, filled, nullable }: FlagField): { value: false | null | [] } | undefined => {
  if (kind === 'boolean' && !many) return { value: false }
  if (nullable) return { value: null }
  return many && !filled ? { value: [] } : undefined
}

/** Everything but the path's parameters, in the order of the contract. */
export const fieldsOf = (o: NamedOp): FlagField[] => {
  const inPath = pathParams(o.path)
  return Object.entries(o.input.properties as Record<string, TSchema>)
    .filter(([name]) => !inPath.includes(name))
    .flatMap(([name, schema]) => fieldsIn(schema, [name]))
}

export const requiredOf = (o: NamedOp): string[] => {
  const inPath = pathParams(o.path)
  return ((o.input.required ?? []) as string[]).filter((name) => !inPath.includes(name))
}
