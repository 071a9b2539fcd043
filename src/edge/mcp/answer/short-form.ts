/**
 * The short form of answers, for models. Entries of lists leave out what is empty and have long
 * texts cut, reports leave out the data behind their Markdown, items leave out their first text and
 * where they come from, and signals say in one line what the network allows. growth_get_record
 * shows a record whole, and a long text of it in parts. Text and structured content are made from
 * the same form, and each has at most `MOST_TOKENS`.
 */

import type { TSchema } from '@sinclair/typebox'
import { fail } from '#kernel/errors'
import { declaredField, entryOf } from './declared-fields.ts'
import { checkedStart, excerptFrom, longestText, remainder, replaceText } from './long-text.ts'
import { Quotation } from './quotation.ts'
import { structureAnswer } from './structured.ts'
import { isEmpty, isFields, writeText } from './text.ts'
import { tokensGuessed } from './token-guess.ts'
import { cut } from './truncate.ts'

type Fields = Record<string, unknown>

/**
 * By the guess of tokens. It is a tenth below the 8,000 that an answer may cost, because the guess
 * is up to a tenth too low for hashes and rare scripts.
 */
export const MOST_TOKENS = 7_200

interface Form {
  /** The most characters of a text: in a list, and in a record shown by itself. */
  inList: number
  alone: number
  /** The most entries of a list. */
  entries: number
  /** Whether records keep what their short forms leave out. */
  whole: boolean
}

interface Short {
  /** The record before it gets tags. */
  plain: Fields
  /** Structured content. */
  body: Fields
  text: string
}

const titleOf = (schema: TSchema | undefined): string | undefined =>
  schema &&
  (schema.title ??
    (schema.anyOf as TSchema[] | undefined)?.map(titleOf).find((title) => title !== undefined))

interface Action {
  action: string
  allowed: boolean
  reason: string | null
}

const inOneLine = (actions: Action[]): string => {
  const allowed = actions.flatMap(({ action, allowed: may }) => (may ? action : []))
  const refused = actions.flatMap(({ action, allowed: may, reason }) =>
    may ? [] : `${action}${reason ? `: ${reason}` : ''}`,
  )
  const not = refused.length > 0 ? `; the network does not allow ${refused.join(', ')}` : ''
  return `${allowed.length > 0 ? allowed.join(', ') : 'none'}${not}`
}

/**
 * How many digits of an item's hash are shown. Every surface shows this many, and an approval
 * accepts them.
 */
const MARK = 8

const withoutId = (value: unknown): unknown => {
  if (!isFields(value)) return value
  const { id: _, ...rest } = value
  return rest
}

const decidedBy = ({ by, allowed_by, ...rest }: Fields): Fields => ({
  ...rest,
  by: withoutId(by),
  allowed_by: withoutId(allowed_by),
})

/**
 * An item without its first text, its source, its writer and the number of its comments, and
 * without the ids of its account and of whoever decided it. Its hash is shortened.
 */
const shortItem = ({
  original_body: _,
  source: __,
  written_by: ___,
  comments: ____,
  account: _____,
  content_hash,
  posting_account,
  decision,
  ...rest
}: Fields): Fields => ({
  ...rest,
  content_hash: String(content_hash).slice(0, MARK),
  posting_account: withoutId(posting_account),
  decision: isFields(decision) ? decidedBy(decision) : decision,
})

/** Short forms by the title of the record. */
const shortRecords: Record<string, (record: Fields) => Fields> = {
  Report: ({ data, ...rest }) => (rest.markdown ? rest : { ...rest, data }),
  Item: shortItem,
  Signal: ({ actions, ...rest }) => ({
    ...rest,
    actions: Array.isArray(actions) ? inOneLine(actions) : actions,
  }),
}

const excerpt = (text: string, most: number): string =>
  text.length <= most ? text : `${cut(text, most)} (${text.length} characters in all)`

const shape = (
  value: unknown,
  schema: TSchema | undefined,
  form: Form,
  inList = false,
): unknown => {
  if (typeof value === 'string') return excerpt(value, inList ? form.inList : form.alone)
  if (Array.isArray(value))
    return value.slice(0, form.entries).map((one) => shape(one, entryOf(schema), form, true))
  if (!isFields(value)) return value
  const short = form.whole ? undefined : shortRecords[titleOf(schema) ?? '']
  const fields = Object.entries(short ? short(value) : value).filter(
    ([, one]) => form.whole || !inList || !isEmpty(one),
  )
  return Object.fromEntries(
    fields.map(([name, one]) => [name, shape(one, declaredField(schema, name), form, inList)]),
  )
}

const UNBOUND = Number.POSITIVE_INFINITY

/** From the usual form down to one that fits in any case. */
const forms = (whole: boolean): Form[] => [
  { inList: whole ? 4_000 : 1_000, alone: UNBOUND, entries: UNBOUND, whole },
  { inList: 500, alone: 16_000, entries: UNBOUND, whole },
  { inList: 300, alone: 7_000, entries: 25, whole },
  { inList: 200, alone: 3_000, entries: 10, whole: false },
  { inList: 100, alone: 1_000, entries: 4, whole: false },
  { inList: 60, alone: 200, entries: 1, whole: false },
]

const NOTE =
  'Too long to show in full: texts end early, and long lists show their first entries. growth_get_record shows a record, and all of its text in parts.'

/** Uses the same tags in structured content and text. */
const inBoth = (plain: Fields, schema: TSchema): Short => {
  const quotation = new Quotation()
  return {
    plain,
    body: structureAnswer(plain, schema, quotation),
    text: writeText(plain, schema, quotation),
  }
}

const makeShort = (body: Fields, schema: TSchema, form: Form, note?: string): Short => {
  const short = { ...(shape(body, schema, form) as Fields), ...(note ? { shortened: note } : {}) }
  return inBoth(short, schema)
}

/**
 * The size in tokens of the longer of the two. A text has no more tokens than bytes. If strangers'
 * words are marked, the lines of a record have at most twice as many tokens as its JSON.
 */
export const tokenSize = ({ body, text }: Pick<Short, 'body' | 'text'>): number => {
  const json = JSON.stringify(body)
  const bytes = Math.max(Buffer.byteLength(json), Buffer.byteLength(text))
  if (bytes <= MOST_TOKENS) return bytes
  const size = tokensGuessed(json)
  return size <= MOST_TOKENS / 2 ? size : Math.max(size, tokensGuessed(text))
}

interface Given {
  schema: TSchema
  /** Whether a single record is being read, so that no short forms of records are used. */
  whole: boolean
  /** The character of the record's longest text to begin with. */
  from?: number | undefined
  /** Why there is less than was asked for. */
  note?: string | undefined
}

/** The usual form, however long. */
export const usualForm = (body: Fields, { schema, whole, note }: Given): Short =>
  makeShort(body, schema, forms(whole)[0]!, note)

const firstFitting = (body: Fields, { schema, whole, note }: Given, most: number): Short => {
  const [usual, ...shorter] = forms(whole)
  let last = makeShort(body, schema, usual!, note)
  for (const form of shorter) {
    if (tokenSize(last) <= most) break
    last = makeShort(body, schema, form, NOTE)
  }
  return last
}

/** Room for the note about a part, including the name of its field. */
const ROOM_FOR_NOTE = 100

/**
 * The record with as much of its longest text as fits. Later parts come without the rest of the
 * record.
 */
const inParts = (body: Fields, given: Given, from: number): Short | undefined => {
  const long = longestText(body)
  if (!long && from > 0)
    fail('invalid_input', 'from must be left out: the record has no text that is read in parts')
  if (!long) return undefined
  checkedStart(long, from)
  const frame =
    from > 0
      ? remainder(body, long)
      : firstFitting(replaceText(body, long, ''), given, MOST_TOKENS / 2).plain
  const room = MOST_TOKENS - ROOM_FOR_NOTE - tokensGuessed(JSON.stringify(frame))
  for (let share = 1; share > 0.2; share -= 0.2) {
    const { part, note } = excerptFrom(long, from, room * share)
    const short = inBoth({ ...replaceText(frame, long, part), shortened: note }, given.schema)
    if (tokenSize(short) <= MOST_TOKENS) return short
  }
  return undefined
}

/**
 * The first form that fits. Throws `invalid_input` if `from` is not before the end of the record's
 * longest text.
 */
export const shortForm = (body: Fields, given: Given): Short => {
  const { whole, from = 0 } = given
  const usual = usualForm(body, given)
  if (from === 0 && tokenSize(usual) <= MOST_TOKENS) return usual
  return (whole ? inParts(body, given, from) : undefined) ?? firstFitting(body, given, MOST_TOKENS)
}
