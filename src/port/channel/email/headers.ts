/** What the headers of a mail say about its thread and its author. */
import { createHash } from 'node:crypto'
import { isObject } from '#kernel/json-value'

/** Headers by lower-case name. Of repeated headers, the first is kept. */
export type MailHeaders = ReadonlyMap<string, string>

const headerLimits = {
  headers: 500,
  headerLength: 16_000,
  referencesLength: 900,
} as const

/** Reads headers from an object or from a list of pairs. */
export const headersOf = (value: unknown): MailHeaders => {
  const pairs = Array.isArray(value) ? value : isObject(value) ? Object.entries(value) : []
  const headers = new Map<string, string>()
  for (const pair of pairs.slice(0, headerLimits.headers)) {
    const [name, given] = Array.isArray(pair) ? pair : []
    const text: unknown = Array.isArray(given) ? given[0] : given
    if (typeof name !== 'string' || typeof text !== 'string') continue
    const key = name.toLowerCase()
    if (!headers.has(key)) headers.set(key, text.slice(0, headerLimits.headerLength))
  }
  return headers
}

const PRECEDENCE = /^\s*(bulk|list|junk|auto_reply)\b/i
/** Headers whose mere presence shows that a machine wrote the mail. */
const OF_MACHINES = [
  'list-id',
  'list-unsubscribe',
  'x-autoreply',
  'x-autorespond',
  'x-failed-recipients',
]

/** Whether a machine wrote the mail, in which case an answer could start a loop (RFC 3834). */
export const isAutomatic = (headers: MailHeaders): boolean => {
  const of = (name: string) => headers.get(name) ?? ''
  return (
    /^(?!\s*(no\b|$))/i.test(of('auto-submitted')) ||
    PRECEDENCE.test(of('precedence')) ||
    /\b(all|oof|autoreply|dr|ndr|rn|nrn)\b/i.test(of('x-auto-response-suppress')) ||
    /^\s*<\s*>\s*$/.test(of('return-path')) ||
    /^\s*multipart\/report\b/i.test(of('content-type')) ||
    OF_MACHINES.some((name) => headers.has(name))
  )
}

const MESSAGE_ID = /<[^<>\s\p{Cc}]{1,250}>/gu

const idsIn = (header: string | undefined): string[] => (header ?? '').match(MESSAGE_ID) ?? []

export interface MailThread {
  /** The id that a reply answers; null if the mail has none. */
  id: string | null
  /** The id of the thread's first mail, which names the conversation. */
  root: string | null
  /** The `References` for a reply, at most 900 characters. */
  references: string[]
}

/** The first reference, which began the thread, and as many of the last ones as fit. */
const shorten = ([first, ...rest]: string[]): string[] => {
  if (first === undefined) return []
  let room = headerLimits.referencesLength - first.length
  const last: string[] = []
  for (const id of rest.reverse()) {
    room -= id.length + 1
    if (room < 0) break
    last.unshift(id)
  }
  return [first, ...last]
}

export const mailThread = (headers: MailHeaders, messageId?: string): MailThread => {
  const id = idsIn(messageId)[0] ?? idsIn(headers.get('message-id'))[0] ?? null
  const answered = [...idsIn(headers.get('references')), ...idsIn(headers.get('in-reply-to'))]
  const all = [...new Set([...answered, ...(id === null ? [] : [id])])]
  return { id, root: all[0] ?? null, references: shorten(all) }
}

/** A short name for texts of any length, the same for the same texts. */
export const hashedName = (kind: string, ...texts: string[]): string =>
  `${kind}:${createHash('sha256').update(texts.join('\0')).digest('base64url')}`
