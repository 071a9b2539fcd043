/**
 * Makes what a channel delivers acceptable to the workspace: bounded, and made of text that can be
 * stored, whatever the adapter produced.
 */
import { createHash } from 'node:crypto'
import type { MessageFile } from '#contract/records/agent/channel-message'
import type { ArrivedMessage } from '#domain/agent/channel/message'
import { isDeeper, isObject } from '#kernel/json-value'
import { beginning, storable } from '#kernel/storable'
import type { Attachment, FetchedMessage, InboundMessage } from '#port/channel/channel'

const LONGEST = { id: 300, sender: 320, name: 300, mimeType: 200, subject: 1_000, text: 1_048_576 }
const MOST_EVENT_IDS = 8
const MOST_ATTACHMENTS = 50
const DEEPEST = 20

/**
 * Ids that are too long or cannot be stored are replaced by their hash, which keeps them distinct.
 */
const idOf = (text: string): string =>
  text.length <= LONGEST.id && storable(text) === text
    ? text
    : `sha256:${createHash('sha256').update(text, 'utf16le').digest('hex')}`

const cut = (text: string, most: number): string => beginning(storable(text), most)

const json = (value: unknown): unknown => {
  if (typeof value === 'string') return storable(value)
  if (Array.isArray(value)) return value.map(json)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [storable(name), json(one)]))
}

const object = (value: Record<string, unknown>): Record<string, unknown> =>
  json(value) as Record<string, unknown>
const orNull = (value: Record<string, unknown> | null): Record<string, unknown> | null =>
  value === null ? null : object(value)

const fileOf = ({ name, mimeType, byteSize, ref }: Attachment): MessageFile => ({
  name: cut(name, LONGEST.name),
  mimeType: cut(mimeType, LONGEST.mimeType),
  ref: orNull(ref),
  byteSize: byteSize !== null && Number.isSafeInteger(byteSize) && byteSize >= 0 ? byteSize : null,
})

const files = (attachments: readonly Attachment[]): MessageFile[] =>
  attachments
    .filter(({ ref }) => !isDeeper(ref, DEEPEST))
    .slice(0, MOST_ATTACHMENTS)
    .map(fileOf)

/** Undefined for a message without an id or a sender, which no provider sends. */
export const arrivedOf = (message: InboundMessage): ArrivedMessage | undefined => {
  const { sender, thread, isShared, subject, text, attachments, replyTo, directTo, toFetch } =
    message
  const eventIds = [...new Set(message.eventIds.filter((id) => id !== '').map(idOf))].slice(
    0,
    MOST_EVENT_IDS,
  )
  // A sender's id is never changed: it could become somebody else's.
  const { id } = sender
  const tooDeep = [replyTo, directTo, toFetch].some((one) => isDeeper(one, DEEPEST))
  if (
    eventIds.length === 0 ||
    id === '' ||
    id.length > LONGEST.sender ||
    storable(id) !== id ||
    thread === '' ||
    tooDeep
  )
    return undefined
  return {
    eventIds,
    sender: { id, name: sender.name === null ? null : cut(sender.name, LONGEST.name) },
    thread: idOf(thread),
    isShared,
    subject: subject === null ? null : cut(subject, LONGEST.subject),
    text: text === null ? null : cut(text, LONGEST.text),
    attachments: files(attachments),
    replyTo: object(replyTo),
    directTo: orNull(directTo),
    toFetch: orNull(toFetch),
  }
}

/** What the fetch returned replaces what the post said. */
export const fetchedOf = ({
  text,
  attachments,
  thread,
  replyTo,
  isAutomatic = false,
}: FetchedMessage) => ({
  text: cut(text, LONGEST.text),
  attachments: files(attachments),
  isAutomatic,
  ...(thread === undefined || thread === '' ? {} : { thread: idOf(thread) }),
  ...(replyTo === undefined || isDeeper(replyTo, DEEPEST) ? {} : { reply_to: object(replyTo) }),
})
