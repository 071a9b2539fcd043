/** How an operation tells a person what it is about to do. */
import { createHash } from 'node:crypto'
import type { Subject } from '#domain/agent/approval'
import { excerpt } from '#domain/growth/reading/words'
import { beginning } from '#kernel/storable'
import { withMarks } from '#kernel/unseen'
import type { Load, Loaded } from '#store/engine/load'

export interface Said {
  /** One sentence, made from the records. */
  summary: string
  subject: Subject
}

/** What a call does, as its records stand. `read` throws `not_found` as the operation does. */
export interface Saying {
  load: Load
  read(loaded: Loaded<Load>): Said
}

export type Says<I> = (input: I) => Saying

export const saying =
  <I, L extends Load>(load: (input: I) => L, read: (loaded: Loaded<L>, input: I) => Said): Says<I> =>
  (input) => ({ load: load(input), read: (loaded) => read(loaded as Loaded<L>, input) })

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The hash of a record without content that an approval would bind: of its fields as they are. */
export const hashOf = (fields: unknown): string => sha256(JSON.stringify(fields))

interface About {
  records?: Subject['records']
  account?: string | null
  /** The exact text that would go out. */
  text?: string | null
}

export const said = (summary: string, { records = [], account = null, text = null }: About = {}): Said => ({
  summary,
  subject: { records, account, text, sha256: text === null ? null : sha256(text) },
})

const LONGEST_QUOTE = 80

/** Without quotes and characters that could make a quotation look like the sentence around it. */
const plain = (text: string): string => withMarks(beginning(text, LONGEST_QUOTE * 8)).replace(/[“”]/g, '"')

/** The beginning of a text, in quotation marks. */
export const quoted = (text: string): string => `“${excerpt(plain(text), LONGEST_QUOTE)}”`

/** `time_zone` as `time zone`. */
export const inWords = (names: readonly string[]): string => names.map((name) => name.replaceAll('_', ' ')).join(', ')
