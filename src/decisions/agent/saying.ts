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
  /** One sentence, made from the records. It covers every argument. */
  summary: string
  subject: Subject
}

/**
 * Describes what a call would do to the records as they are. `read` throws `not_found` as the
 * operation does.
 */
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

/** A hash over the fields of a record, for records whose approval binds no content. */
export const hashFields = (fields: unknown): string => sha256(JSON.stringify(fields))

interface About {
  records?: Subject['records']
  account?: string | null
  /** The exact text that would be sent. */
  text?: string | null
}

export const summariseCall = (
  summary: string,
  { records = [], account = null, text = null }: About = {},
): CallSummary => ({
  summary,
  subject: { records, account, text, sha256: text === null ? null : sha256(text) },
})

const sayingLimits = {
  quoteLength: 80,
  entries: 3,
  fields: 20,
  warnings: 3,
} as const

/**
 * Removes quotation marks and characters that could make a quotation look like the sentence around
 * it.
 */
const plain = (text: string): string =>
  withCodes(beginning(text, sayingLimits.quoteLength * 8)).replace(/[“”]/g, '"')

/** The beginning of a text, in quotation marks. */
export const quoteBeginning = (text: string): string =>
  `“${excerpt(plain(text), sayingLimits.quoteLength)}”`

/** Turns `time_zone` into `time zone`. */
export const inWords = (names: readonly string[]): string =>
  names.map((name) => name.replaceAll('_', ' ')).join(', ')

/**
 * Text of this form needs no quotation marks: without spaces it cannot pass for a part of the
 * sentence.
 */
const BARE = /^[\w./:+-]{1,40}$/

/** The first few as text, and how many more there are. Only what is shown is formatted. */
const someOf = <T>(all: readonly T[], most: number, text: (one: T) => string): string => {
  const shown = all.slice(0, most).map(text).join(', ')
  return all.length > most ? `${shown} and ${all.length - most} more` : shown
}

/** The value of an argument in a few words, or its beginning. */
export const valueText = (value: unknown): string => {
  if (value === null) return 'none'
  if (typeof value === 'string')
    return value.trim() === '' ? 'empty' : BARE.test(value) ? value : quoteBeginning(value)
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : someOf(value, sayingLimits.entries, valueText)
  return typeof value === 'object' ? `(${fieldsText(value)})` : String(value)
}

const nameText = (name: string): string =>
  BARE.test(name) ? inWords([name]) : quoteBeginning(name)

/**
 * Each field with its value, such as `max length 200, time zone UTC`. Empty if there are no fields.
 */
export const fieldsText = (fields: object): string => {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return someOf(
    given,
    sayingLimits.fields,
    ([name, value]) => `${nameText(name)} ${valueText(value)}`,
  )
}

/** The same in parentheses, with a space before; nothing without fields. */
export const besides = (fields: object): string => {
  const text = fieldsText(fields)
  return text === '' ? '' : ` (${text})`
}

/** A time in the workspace's time zone. */
export const clockText = (time: Date, timeZone: string): string =>
  `${timeAt(time, timeZone)} (${timeZone})`

/** What the caller claims to have seen, as the end of a sentence. */
export const seenText = (hash: string | undefined): string =>
  hash === undefined ? '' : `, if its text is still that of hash ${hash}`

/** The warnings that `preview` gives, as the end of a sentence. */
export const warningText = (warnings: readonly { message: string }[]): string => {
  if (warnings.length === 0) return ''
  const text = someOf(warnings, sayingLimits.warnings, ({ message }) =>
    message.replace(/\s+/g, ' ').replace(/\.$/, ''),
  )
  return `; ${warnings.length === 1 ? 'a warning' : 'warnings'}: ${text}`
}
