/** How an operation tells a person what it is about to do. */
import { createHash } from 'node:crypto'
import type { Subject } from '#domain/agent/job/approval'
import { excerpt } from '#domain/growth/reading/words'
import { timeAt } from '#kernel/calendar'
import { beginning } from '#kernel/storable'
import { withCodes } from '#kernel/unseen'
import type { Networks } from '#port/network/registry'
import type { Load, Loaded } from '#store/engine/load'

export interface CallSummary {
  /** One sentence, made from the records. It names each argument. */
  summary: string
  subject: Subject
}

/** What a call does, as its records stand. `read` throws `not_found` as the operation does. */
export interface Saying {
  load: Load
  read(loaded: Loaded<Load>, networks: Networks): CallSummary
}

export type Says<I> = (input: I) => Saying

export const saying =
  <I, L extends Load>(
    load: (input: I) => L,
    read: (loaded: Loaded<L>, input: I, networks: Networks) => CallSummary,
  ): Says<I> =>
  (input) => ({
    load: load(input),
    read: (loaded, networks) => read(loaded as Loaded<L>, input, networks),
  })

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The hash of a record without content that an approval would bind: of its fields as they are. */
export const hashFields = (fields: unknown): string => sha256(JSON.stringify(fields))

interface About {
  records?: Subject['records']
  account?: string | null
  /** The exact text that would go out. */
  text?: string | null
}

export const summariseCall = (
  summary: string,
  { records = [], account = null, text = null }: About = {},
): CallSummary => ({
  summary,
  subject: { records, account, text, sha256: text === null ? null : sha256(text) },
})

const LONGEST_QUOTE = 80

/** Without quotes and characters that could make a quotation look like the sentence around it. */
const plain = (text: string): string =>
  withCodes(beginning(text, LONGEST_QUOTE * 8)).replace(/[“”]/g, '"')

/** The beginning of a text, in quotation marks. */
export const quoteBeginning = (text: string): string => `“${excerpt(plain(text), LONGEST_QUOTE)}”`

/** `time_zone` as `time zone`. */
export const inWords = (names: readonly string[]): string =>
  names.map((name) => name.replaceAll('_', ' ')).join(', ')

/**
 * Without spaces it cannot look like a part of the sentence: a number, a time, a word of an
 * enumeration.
 */
const BARE = /^[\w./:+-]{1,40}$/
const MOST_ENTRIES = 3
const MOST_FIELDS = 20

/** The first of them in words, and how many more there are. What is not shown costs nothing. */
const someOf = <T>(all: readonly T[], most: number, text: (one: T) => string): string => {
  const shown = all.slice(0, most).map(text).join(', ')
  return all.length > most ? `${shown} and ${all.length - most} more` : shown
}

/** The value of an argument in few words, or the beginning of it. */
export const valueText = (value: unknown): string => {
  if (value === null) return 'none'
  if (typeof value === 'string')
    return value.trim() === '' ? 'empty' : BARE.test(value) ? value : quoteBeginning(value)
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : someOf(value, MOST_ENTRIES, valueText)
  return typeof value === 'object' ? `(${fieldsText(value)})` : String(value)
}

const nameText = (name: string): string =>
  BARE.test(name) ? inWords([name]) : quoteBeginning(name)

/** `max length 200, time zone UTC`: each field with its value. Empty without fields. */
export const fieldsText = (fields: object): string => {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return someOf(given, MOST_FIELDS, ([name, value]) => `${nameText(name)} ${valueText(value)}`)
}

/** The same in parentheses, with a space before; nothing without fields. */
export const besides = (fields: object): string => {
  const text = fieldsText(fields)
  return text === '' ? '' : ` (${text})`
}

/** A time by the workspace's clocks. */
export const clockText = (time: Date, timeZone: string): string =>
  `${timeAt(time, timeZone)} (${timeZone})`

/** What a caller says it has seen, at the end of a sentence. */
export const seenText = (hash: string | undefined): string =>
  hash === undefined ? '' : `, if its text is still that of hash ${hash}`

const MOST_WARNINGS = 3

/** What `preview` warns of, at the end of a sentence. */
export const warningText = (warnings: readonly { message: string }[]): string => {
  if (warnings.length === 0) return ''
  const text = someOf(warnings, MOST_WARNINGS, ({ message }) =>
    message.replace(/\s+/g, ' ').replace(/\.$/, ''),
  )
  return `; ${warnings.length === 1 ? 'a warning' : 'warnings'}: ${text}`
}
