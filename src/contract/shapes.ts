/** Schemas shared by several resources. */
import {
  Kind,
  type SchemaOptions,
  Type as T,
  type TObject,
  type TProperties,
  type TSchema,
  TypeRegistry,
} from '@sinclair/typebox'
import { isDateTime } from './formats.ts'

interface OneOf<V extends string> extends TSchema {
  [Kind]: 'OneOf'
  static: V
  type: 'string'
  enum: V[]
}

TypeRegistry.Set(
  'OneOf',
  (schema: { enum: string[] }, value: unknown) =>
    typeof value === 'string' && schema.enum.includes(value),
)

/**
 * A JSON Schema `enum`. TypeBox's union of literals would become `anyOf`, which many MCP clients
 * refuse.
 */
export const oneOf = <const V extends string>(
  values: readonly V[],
  options: SchemaOptions = {},
): OneOf<V> =>
  ({ ...options, [Kind]: 'OneOf', type: 'string', enum: [...values] }) as unknown as OneOf<V>

/**
 * The words of a `someOf`. The key is a symbol, so that no surface writes the words a second time:
 * the description already has them.
 */
export const WORDS = Symbol('words')

interface SomeOf extends TSchema {
  [Kind]: 'SomeOf'
  static: string
  type: 'string'
  [WORDS]: readonly string[]
}

TypeRegistry.Set('SomeOf', (schema: SomeOf, value: unknown) => {
  const words = typeof value === 'string' && value.length <= LONGEST_CHOICE ? value.split(',') : []
  return words.length > 0 && words.every((word) => schema[WORDS].includes(word))
})
const LONGEST_CHOICE = 200

/**
 * One or more of the words in one text, with commas between them: a filter for a query. Read it
 * with `wordsIn`.
 */
export const someOf = (words: readonly string[], what: string): SomeOf =>
  ({
    [Kind]: 'SomeOf',
    [WORDS]: words,
    type: 'string',
    examples: [words[0]],
    description: `${what} One, or several with commas between: ${words.join(', ')}.`,
  }) as unknown as SomeOf

/** The distinct words of a value of `someOf`. */
export const wordsIn = <W extends string>(value: string): W[] => [
  ...new Set(value.split(',') as W[]),
]

export const Id = T.String({ format: 'uuid', description: 'A uuid.' })

interface Timestamp extends TSchema {
  [Kind]: 'Timestamp'
  static: string | Date
}

TypeRegistry.Set(
  'Timestamp',
  (_, value: unknown) => value instanceof Date || (typeof value === 'string' && isDateTime(value)),
)

/** A point in time. Text in inputs; handlers return a `Date`, serialised as ISO 8601 in UTC. */
export const Time = {
  [Kind]: 'Timestamp',
  type: 'string',
  format: 'date-time',
  description: 'An ISO 8601 timestamp.',
} as unknown as Timestamp

/** A record as callers get it, with text for times. */
export type Shown<R> = R extends Date
  ? string
  : R extends object
    ? { [Field in keyof R]: Shown<R[Field]> }
    : R

/** Stands for a time: the next free slot of the cadence. */
export const NEXT_SLOT = 'next_slot'

interface TimeOrSlot extends TSchema {
  [Kind]: 'TimeOrSlot'
  static: string
}

TypeRegistry.Set(
  'TimeOrSlot',
  (_, value: unknown) => typeof value === 'string' && (value === NEXT_SLOT || isDateTime(value)),
)

/**
 * A point in time, or `next_slot`. Declares its type in addition to `anyOf`, for clients that do
 * not support unions.
 */
export const timeOrSlot = (about = 'An ISO 8601 timestamp, or next_slot.'): TimeOrSlot =>
  ({
    [Kind]: 'TimeOrSlot',
    type: 'string',
    anyOf: [
      { type: 'string', format: 'date-time' },
      { type: 'string', enum: [NEXT_SLOT] },
    ],
    description: about,
  }) as unknown as TimeOrSlot

export const NOT_BLANK = '\\S'
export const ONE_LINE = '^[^\\n\\r\\u2028\\u2029]*\\S[^\\n\\r\\u2028\\u2029]*$'

export const nullable = <S extends TSchema>(schema: S, options: SchemaOptions = {}) =>
  T.Union([schema, T.Null()], options)

/**
 * Text that may contain words of people outside the workspace, such as posts read from a network.
 * Surfaces for models mark it as data. On a record or list, it applies to every text inside.
 */
export const markUntrusted = <S extends TSchema>(schema: S): S => ({
  ...schema,
  'x-untrusted': true,
})

/**
 * A handle, an address, or anything else by which programs find something. If it comes from outside
 * people, structured content has it without tags, but lists it in `untrusted_fields`.
 */
export const asName = <S extends TSchema>(schema: S): S => ({ ...schema, 'x-untrusted-as': 'name' })

export const untrustedName = <S extends TSchema>(schema: S): S => asName(markUntrusted(schema))

interface Condition {
  /**
   * A field of the record, or of one around it. The condition holds if it is true or not empty.
   * `job.taint` is a field of the record `job` there.
   */
  field: string
  /** Also requires that an entry of the list begins with this. */
  begins?: string
  /** Does not hold if this field has this value. */
  unless?: [field: string, value: string]
}

/** Untrusted only if the condition holds for the record. */
export const markUntrustedIf = <S extends TSchema>(condition: Condition, schema: S): S => ({
  ...markUntrusted(schema),
  'x-untrusted-if': condition,
})

/**
 * A field of a capability's answer that only its direct caller is shown. Neither a model nor the
 * record of the call gets it.
 */
export const secret = <S extends TSchema>(schema: S): S => ({ ...schema, 'x-secret': true })

/**
 * A record, a list of records or an id that models know by another name than that of its field:
 * `item` makes `item:3`. `by`: the field of the record that says what it is; `as` translates its
 * values into such names where they differ.
 */
export const nameForModels = <S extends TSchema>(
  name: string | { by: string; as?: Record<string, string> },
  schema: S,
): S => ({
  ...schema,
  'x-called': name,
})

/**
 * A field of an input that only people set. The agent's model is not told about it, and may not set
 * it.
 */
export const onlyPeople = <S extends TSchema>(schema: S): S => ({
  ...schema,
  'x-only-people': true,
})

/**
 * A field of an input that is the text of the call. People who decide about the call change it as
 * plain text, not within JSON.
 */
export const theText = <S extends TSchema>(schema: S): S => ({ ...schema, 'x-text': true })

/** A list's cursor. `example`: a cursor that this list could return. */
export const cursorLike = (example: string) =>
  T.Optional(
    T.String({ maxLength: 200, description: 'The previous next_cursor.', examples: [example] }),
  )

/** The input of every list. */
export const page = {
  limit: T.Optional(
    T.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Page size. Default 25.' }),
  ),
  cursor: cursorLike('MDE4ZjQ3YTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAw'),
}

/** Filters by the time when records were created. */
export const created = {
  from: T.Optional({ ...Time, description: 'Only those created since then.' }),
  to: T.Optional({ ...Time, description: 'Only those created before then.' }),
}

export const NextCursor = nullable(
  T.String({ description: 'Pass it as cursor to get the next page; null on the last one.' }),
)

/**
 * An output object with exactly these fields. With a title it becomes a schema of its own in the
 * OpenAPI document, so titles are unique.
 */
export const record = <P extends Parameters<typeof T.Object>[0]>(
  fields: P,
  options: { title?: string; description?: string; examples?: unknown[] } = {},
) => T.Object(fields, { ...options, additionalProperties: false })

/** The fields of a record without `names`, in their order. */
export const fieldsBut = <P extends TProperties, N extends keyof P & string>(
  { properties }: TObject<P>,
  names: readonly N[],
): Omit<P, N> =>
  Object.fromEntries(
    Object.entries(properties).filter(([name]) => !names.includes(name as N)),
  ) as never

const authorKinds = ['person', 'key', 'agent', 'system'] as const

/** Who wrote or decided something. */
export const AuthorSchema = record(
  {
    kind: oneOf(authorKinds, { description: 'agent: a job of the workspace agent.' }),
    id: T.String(),
  },
  { title: 'Author' },
)

/** The same, with a name if there is one. */
export const NamedAuthorSchema = record(
  {
    kind: oneOf(authorKinds, {
      description: 'agent: a job of the workspace agent. system: the server or its operator.',
    }),
    id: T.String(),
    name: nullable(
      T.String({
        description:
          'The name of the key, or of the person: of people for those alone who are signed in.',
      }),
    ),
  },
  { title: 'NamedAuthor' },
)

/** The hash of a text, or at least its first 8 digits. */
export const ExpectHash = T.String({
  pattern: '^[0-9a-f]{8,64}$',
  examples: ['0c2cce39'],
  description:
    'The content_hash that you saw, or its first digits: 409 if the text is another one.',
})
