/**
 * Posts of WhatsApp's Cloud API. Nothing here believes a post, because `verify` comes between
 * `route` and `read`.
 */

import {
  asObject,
  type JsonObject,
  objectsIn,
  parseObject,
  readId,
  storableText,
} from '#port/fields'
import type {
  Attachment,
  InboundMessage,
  InboundMessages,
  InboundPost,
  OpenConnection,
  Routed,
  UndeliveredMessage,
} from '../channel.ts'
import { parseContent } from './content.ts'
import { errorOf } from './graph.ts'

const PHONE_NUMBER_ID = /^\d{1,30}$/
const PHONE = /^\d{5,20}$/
/**
 * The id of a person. People with a user name need not show their number. Such an id
 * (`DE.13491208655302741918`) is the same for all numbers of a business.
 */
const USER = /^[A-Z]{2}\.[A-Za-z0-9.]{1,140}$/
const MESSAGE = /^[\x21-\x7e]{1,300}$/
const SECONDS = /^\d{1,12}$/

/** Meta sends at most a thousand changes in a post. */
const MOST = 1_000
const LONGEST_NAME = 200
/** How long free text may be sent after a message from a person. */
const WINDOW_MS = 24 * 3_600_000

/** The changes that report messages. Each is for one of our phone numbers. */
const changesIn = ({ body }: InboundPost): { phoneNumberId: string; value: JsonObject }[] => {
  const post = parseObject(body)
  if (post?.object !== 'whatsapp_business_account') return []
  return objectsIn(post.entry, MOST)
    .flatMap(({ changes }) => objectsIn(changes, MOST))
    .slice(0, MOST)
    .flatMap(({ field, value }) => {
      const phoneNumberId = readId(
        asObject(asObject(value).metadata).phone_number_id,
        PHONE_NUMBER_ID,
      )
      return field === 'messages' && phoneNumberId !== undefined
        ? [{ phoneNumberId, value: asObject(value) }]
        : []
    })
}

export const routeWhatsAppPost = (post: InboundPost): Routed => {
  const keys = [...new Set(changesIn(post).map(({ phoneNumberId }) => phoneNumberId))]
  return keys.length === 0 ? { kind: 'unknown' } : { kind: 'keys', keys }
}

interface Person {
  /** `+4917…`, or the id of a user whose number is not shown. */
  id: string
  /** The recipient in Meta's form. */
  to: { to: string } | { recipient: string }
}

const personOf = (message: JsonObject): Person | undefined => {
  const phone = readId(message.from, PHONE)
  if (phone !== undefined) return { id: `+${phone}`, to: { to: phone } }
  const user = readId(message.from_user_id, USER)
  return user === undefined ? undefined : { id: user, to: { recipient: user } }
}

/** The sender's name in WhatsApp, which people choose freely and can change at any time. */
const nameOf = (
  contacts: JsonObject[],
  { from, from_user_id: user }: JsonObject,
): string | null => {
  const contact = contacts.find(
    ({ wa_id, user_id }) =>
      (from !== undefined && wa_id === from) || (user !== undefined && user_id === user),
  )
  return storableText(asObject(contact?.profile).name, LONGEST_NAME) ?? null
}

const messageOf = (message: JsonObject, contacts: JsonObject[], now: number): InboundMessage[] => {
  const id = readId(message.id, MESSAGE)
  const person = personOf(message)
  // An answer in a group would go to everybody in it.
  if (id === undefined || !person || message.group_id !== undefined) return []
  const content = parseContent(message)
  if (!content) return []
  const at = readId(message.timestamp, SECONDS)
  const until = (at === undefined ? now : Math.min(Number(at) * 1_000, now)) + WINDOW_MS
  const attachments: Attachment[] = content.attachments
  return [
    {
      eventIds: [id],
      sender: { id: person.id, name: nameOf(contacts, message) },
      thread: person.id,
      isShared: false,
      subject: null,
      text: content.text,
      attachments,
      replyTo: { ...person.to, messageId: id, until },
      directTo: { ...person.to },
      toFetch: null,
    },
  ]
}

/** The form of the ids that our messages carry. Reports on them repeat the id. */
const OURS = /^[\x21-\x7e]{1,100}$/

const undeliveredOf = ({
  id,
  status,
  errors,
  biz_opaque_callback_data: ours,
}: JsonObject): UndeliveredMessage[] => {
  const [externalId, named] = [readId(id, MESSAGE), readId(ours, OURS)]
  if (status !== 'failed' || externalId === undefined || named === undefined) return []
  const code = objectsIn(errors, 1)[0]?.code
  return [
    {
      id: named,
      externalId,
      error: typeof code === 'number' ? errorOf(code) : 'WhatsApp could not deliver it',
    },
  ]
}

/** Ignores `sent`, `delivered`, `read` and the like, which add nothing to a reply's state. */
export const readFailures = (
  post: InboundPost,
  { routingKey }: OpenConnection,
): readonly UndeliveredMessage[] =>
  changesIn(post)
    .filter(({ phoneNumberId }) => phoneNumberId === routingKey)
    .flatMap(({ value }) => objectsIn(value.statuses, MOST).flatMap(undeliveredOf))
    .slice(0, MOST)

export const readWhatsAppPost = (
  post: InboundPost,
  { routingKey }: OpenConnection,
): InboundMessages =>
  changesIn(post)
    .filter(({ phoneNumberId }) => phoneNumberId === routingKey)
    .flatMap(({ value }) => {
      const contacts = objectsIn(value.contacts, MOST)
      return objectsIn(value.messages, MOST).flatMap((message) =>
        messageOf(message, contacts, post.now),
      )
    })
    .slice(0, MOST)
