/**
 * The short form of answers, for models: entries of lists leave out what is empty and cut long texts, reports leave out the data behind their
 * Markdown, signals say in a line what the network allows. growth_get_record shows a record whole. Text and structured content are made of
 * the same form, each below `MOST_BYTES`.
 */
import type { TSchema } from '@sinclair/typebox'
import { entryOf, fieldOf } from './declared-fields.ts'
import { isEmpty, isFields, textOf } from './text.ts'
import { cut } from './truncate.ts'

type Fields = Record<string, unknown>

/** In bytes of UTF-8: below 8,000 tokens, whatever the language. */
export const MOST_BYTES = 24_000

interface Form {
  /** The most characters of a text, in a list or in a record of its own. */
  inList: number
  alone: number
  /** The most entries of a list. */
  entries: number
  /** Whether records keep what their short forms leave out. */
  whole: boolean
}

interface Short {
  /** Structured content. */
  body: Fields
  text: string
}

const titleOf = (schema: TSchema | undefined): string | undefined =>
  schema && (schema.title ?? (schema.anyOf as TSchema[] | undefined)?.map(titleOf).find((title) => title !== undefined))

interface Action {
  action: string
  allowed: boolean
  reason: string | null
}

const inOneLine = (actions: Action[]): string => {
  const allowed = actions.flatMap(({ action, allowed: may }) => (may ? action : []))
  const refused = actions.flatMap(({ action, allowed: may, reason }) => (may ? [] : `${action}${reason ? `: ${reason}` : ''}`))
  const not = refused.length > 0 ? `; the network does not allow ${refused.join(', ')}` : ''
  return `${allowed.length > 0 ? allowed.join(', ') : 'none'}${not}`
}

/** By the title of the record. */
const shortRecords: Record<string, (record: Fields) => Fields> = {
  Report: ({ data, ...rest }) => (rest.markdown ? rest : { ...rest, data }),
  Signal: ({ actions, ...rest }) => ({ ...rest, actions: Array.isArray(actions) ? inOneLine(actions) : actions }),
}

const excerpt = (text: string, most: number): string =>
  text.length <= most ? text : `${cut(text, most)} (${text.length} characters in all)`

const shaped = (value: unknown, schema: TSchema | undefined, form: Form, inList = false): unknown => {
  if (typeof value === 'string') return excerpt(value, inList ? form.inList : form.alone)
  if (Array.isArray(value)) return value.slice(0, form.entries).map((one) => shaped(one, entryOf(schema), form, true))
  if (!isFields(value)) return value
  const short = form.whole ? undefined : shortRecords[titleOf(schema) ?? '']
  const fields = Object.entries(short ? short(value) : value).filter(([, one]) => form.whole || !inList || !isEmpty(one))
  return Object.fromEntries(fields.map(([name, one]) => [name, shaped(one, fieldOf(schema, name), form, inList)]))
}

const UNBOUND = Number.POSITIVE_INFINITY

/** From the usual form to what fits in any case. */
const forms = (whole: boolean): Form[] => [
  { inList: whole ? 4_000 : 1_000, alone: UNBOUND, entries: UNBOUND, whole },
  { inList: 500, alone: 16_000, entries: UNBOUND, whole },
  { inList: 300, alone: 7_000, entries: 25, whole },
  { inList: 200, alone: 3_000, entries: 10, whole: false },
  { inList: 100, alone: 1_000, entries: 4, whole: false },
  { inList: 60, alone: 200, entries: 1, whole: false },
]

const NOTE = 'Too long to show in full: texts end early, and long lists show their first entries. The lists of their own have all.'

const made = (body: Fields, schema: TSchema, form: Form, note?: string): Short => {
  const short = { ...(shaped(body, schema, form) as Fields), ...(note ? { shortened: note } : {}) }
  return { body: short, text: textOf(short, schema) }
}

/** In bytes, of the longer of the two. */
export const sizeOf = ({ body, text }: Short): number => Math.max(Buffer.byteLength(JSON.stringify(body)), Buffer.byteLength(text))

interface Given {
  schema: TSchema
  /** As a single record is read: without the short forms of records. */
  whole: boolean
  /** Why there is less than asked for. */
  note?: string | undefined
}

/** The usual form, however long. */
export const usualForm = (body: Fields, { schema, whole, note }: Given): Short => made(body, schema, forms(whole)[0]!, note)

/** The first form that fits. */
export const shortForm = (body: Fields, { schema, whole, note }: Given): Short => {
  const [usual, ...shorter] = forms(whole)
  let last = made(body, schema, usual!, note)
  for (const form of shorter) {
    if (sizeOf(last) <= MOST_BYTES) break
    last = made(body, schema, form, NOTE)
  }
  return last
}
