/** An operation's input as options. */
import type { TSchema } from '@sinclair/typebox'
import { type NamedOp, pathParams } from '#contract/op'
import { WORDS } from '#contract/shapes'
import { flagOf } from './names.ts'

export type FlagKind = 'text' | 'integer' | 'number' | 'boolean' | 'choice' | 'json'

/** A value of the input that an option sets. */
export interface FlagField {
  path: readonly string[]
  /** Without its dashes. */
  flag: string
  kind: FlagKind
  /** A list: the option can be repeated, once per entry. */
  many: boolean
  /** A list that must not be empty. */
  filled: boolean
  /** `--no-…` sets it to null. */
  nullable: boolean
  /** The schema of one value. */
  schema: TSchema
  description: string
  /**
   * Set for long texts and secrets, where `-` and `@file` are read. In other options, such as
   * handles, they are literal.
   */
  readable: boolean
}

/** Longer text is often written in a file. */
const LONG_TEXT = 500
/** Secrets, which other users could see in the process list. */
const SECRET = /password|secret|token/i

/** The words of a choice. Undefined for any other schema. */
export const choicesOf = (schema: TSchema): string[] | undefined => {
  const words = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  const isText = Array.isArray(words) && words.every((word) => typeof word === 'string')
  return isText ? words : undefined
}

/**
 * The words of which a value may name several. Undefined for any other schema. In the published
 * program, the contract is JSON.
 */
export const choiceWords = (schema: TSchema): string[] | undefined =>
  (schema as { [WORDS]?: string[] })[WORDS] ?? (schema['x-words'] as string[] | undefined)

const withoutNull = (schema: TSchema): { schema: TSchema; nullable: boolean } => {
  const options = schema.anyOf as TSchema[] | undefined
  if (!options) return { schema, nullable: false }
  const others = options.filter(({ type }) => type !== 'null')
  const words = others.map(({ const: word }) => word)
  const nullable = others.length < options.length
  if (others.length === 1) return { schema: others[0]!, nullable }
  return {
    schema: words.every((word) => typeof word === 'string')
      ? { ...schema, anyOf: undefined, enum: words }
      : schema,
    nullable,
  }
}

/** How one value is written. */
export const flagKindOf = (schema: TSchema): FlagKind => {
  if (choicesOf(schema)) return 'choice'
  const { type } = schema
  if (type === 'string') return 'text'
  return type === 'integer' || type === 'number' || type === 'boolean' ? type : 'json'
}

const isLong = ({ format, maxLength = Number.POSITIVE_INFINITY }: TSchema): boolean =>
  !format && maxLength >= LONG_TEXT

const hasOwnFields = (schema: TSchema): boolean =>
  schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0

const fieldsIn = (outer: TSchema, path: readonly string[]): FlagField[] => {
  const { schema, nullable } = withoutNull(outer)
  if (hasOwnFields(schema))
    return Object.entries(schema.properties as Record<string, TSchema>).flatMap(([name, child]) =>
      fieldsIn(child, [...path, name]),
    )
  const entry = schema.type === 'array' ? (schema.items as TSchema | undefined) : undefined
  const one = entry ?? schema
  const kind = flagKindOf(one)
  const description = outer.description ?? schema.description ?? one.description ?? ''
  const readable =
    kind === 'json' || (kind === 'text' && (isLong(one) || SECRET.test(path.at(-1) ?? '')))
  const filled = (schema.minItems ?? 0) > 0
  return [
    {
      path,
      flag: flagOf(path),
      kind,
      many: entry !== undefined,
      filled,
      nullable,
      schema: one,
      description,
      readable,
    },
  ]
}

/** The value that `--no-…` sets; undefined if there is no such option. */
export const noneOf = ({
  kind,
  many,
  filled,
  nullable,
}: FlagField): { value: false | null | [] } | undefined => {
  if (kind === 'boolean' && !many) return { value: false }
  if (nullable) return { value: null }
  return many && !filled ? { value: [] } : undefined
}

/** All fields except path parameters, in the order of the contract. */
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
