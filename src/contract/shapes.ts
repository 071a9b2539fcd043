/** The shapes that several resources share. */
import { FormatRegistry, Kind, type SchemaOptions, Type as T, type TSchema, TypeRegistry } from '@sinclair/typebox'
import { normalForm } from '#kernel/normal-form'
import { isInvisible, isLonger, strangeCharacter } from '#kernel/plain-text'

interface OneOf<V extends string> extends TSchema {
  [Kind]: 'OneOf'
  static: V
  type: 'string'
  enum: V[]
}

TypeRegistry.Set('OneOf', (schema: { enum: string[] }, value: unknown) => typeof value === 'string' && schema.enum.includes(value))

/** One of some words, as plain JSON schema: unions of literals would be `anyOf`, which many clients of MCP refuse. */
export const oneOf = <const V extends string>(values: readonly V[], options: SchemaOptions = {}): OneOf<V> =>
  ({ ...options, [Kind]: 'OneOf', type: 'string', enum: [...values] }) as unknown as OneOf<V>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const DATE_TIME =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-]([01]\d|2[0-3]):?[0-5]\d)$/

/** A calendar date that exists: 30 February matches the form and is still refused. */
const isDateTime = (text: string): boolean => {
  if (!DATE_TIME.test(text)) return false
  const [year, month, day] = text.slice(0, 10).split('-').map(Number)
  return day! <= new Date(Date.UTC(year!, month!, 0)).getUTCDate()
}

/** Answers that cost some work, kept: the same few names come again and again. Texts without end are not. */
const remembered = (check: (text: string) => boolean): ((text: string) => boolean) => {
  const known = new Map<string, boolean>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const answer = check(text)
    if (answer && known.size < MOST_REMEMBERED) known.set(text, answer)
    return answer
  }
}
const MOST_REMEMBERED = 1_000

const isTimeZone = remembered((text) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined && !/^[+-]/.test(text)
  } catch {
    return false
  }
})

const isLanguage = remembered((text) => {
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch {
    return false
  }
})

/** What mail servers take is wider; what people have is this. */
const EMAIL = /^[^\s@"(),:;<>[\]\\]{1,64}@[^\s@"(),:;<>[\]\\.]+(\.[^\s@"(),:;<>[\]\\.]+)*$/

const isHttpUrl = (text: string): boolean => {
  if (!/^https?:\/\/[^\s]+$/i.test(text)) return false
  return URL.canParse(text)
}

FormatRegistry.Set('uuid', (text) => UUID.test(text))
FormatRegistry.Set('date-time', isDateTime)
FormatRegistry.Set('time-zone', isTimeZone)
FormatRegistry.Set('language', isLanguage)
FormatRegistry.Set('uri', isHttpUrl)
/** How long names and addresses may be in the form in which they are kept. */
export const NAME_LIMIT = 160
export const EMAIL_LIMIT = 254
FormatRegistry.Set(
  'email',
  (text) => EMAIL.test(normalForm(text, 'NFKC')) && strangeCharacter(text) === undefined && !isLonger(text, EMAIL_LIMIT),
)
FormatRegistry.Set('name', (text) => strangeCharacter(text) === undefined && !isInvisible(text) && !isLonger(text, NAME_LIMIT))
FormatRegistry.Set('clock-time', (text) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text))

export const Id = T.String({ format: 'uuid', description: 'A uuid.' })

interface Timestamp extends TSchema {
  [Kind]: 'Timestamp'
  static: string | Date
}

TypeRegistry.Set('Timestamp', (_, value: unknown) => value instanceof Date || (typeof value === 'string' && isDateTime(value)))

/** A point in time. Comes in as text; handlers return it as a `Date`, which goes out as ISO 8601 in UTC. */
export const Time = {
  [Kind]: 'Timestamp',
  type: 'string',
  format: 'date-time',
  description: 'An ISO 8601 timestamp.',
} as unknown as Timestamp

/** In the place of a time: the next free slot of the cadence. */
export const NEXT_SLOT = 'next_slot'

interface TimeOrSlot extends TSchema {
  [Kind]: 'TimeOrSlot'
  static: string
}

TypeRegistry.Set('TimeOrSlot', (_, value: unknown) => typeof value === 'string' && (value === NEXT_SLOT || isDateTime(value)))

/** A point in time, or `next_slot`. Its type stands beside the two forms, for readers that know no unions. */
export const timeOrSlot = (): TimeOrSlot =>
  ({
    [Kind]: 'TimeOrSlot',
    type: 'string',
    anyOf: [
      { type: 'string', format: 'date-time' },
      { type: 'string', enum: [NEXT_SLOT] },
    ],
    description: 'An ISO 8601 timestamp, or next_slot.',
  }) as unknown as TimeOrSlot

/** Patterns of texts: with something to read in it, and that on a line of its own. */
export const NOT_BLANK = '\\S'
export const ONE_LINE = '^[^\\n\\r\\u2028\\u2029]*\\S[^\\n\\r\\u2028\\u2029]*$'

export const nullable = <S extends TSchema>(schema: S) => T.Union([schema, T.Null()])

/**
 * Text that people outside of the workspace have written, or a part of it: what networks bring. A surface that models read marks
 * it, and tells them that it is data. On anything but a text it holds for every text inside.
 */
export const untrusted = <S extends TSchema>(schema: S): S => ({ ...schema, 'x-untrusted': true })

/** What a list is read on with. The example has the form that this list gives. */
export const cursorLike = (example: string) =>
  T.Optional(T.String({ maxLength: 200, description: 'The previous next_cursor.', examples: [example] }))

/** Input of every list. */
export const page = {
  limit: T.Optional(T.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Page size. Default 25.' })),
  cursor: cursorLike('MDE4ZjQ3YTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAw'),
}

export const NextCursor = nullable(T.String({ description: 'Pass it as cursor to get the next page; null on the last one.' }))

/**
 * An object of the output: says all its fields and no others. One with a title is a type of its own in the OpenAPI document,
 * so titles are unique. `x-named`: tools name it, and leave what it holds to the answer: large, and plain to whoever reads it.
 */
export const record = <P extends Parameters<typeof T.Object>[0]>(
  fields: P,
  options: { title?: string; description?: string; examples?: unknown[]; 'x-named'?: true } = {},
) => T.Object(fields, { ...options, additionalProperties: false })
