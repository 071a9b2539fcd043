/**
 * What WhatsApp's Cloud API posts. Nothing here believes a post: `verify` comes between `route` and
 * `read`.
 */
import type {
  Attachment,
  InboundMessage,
  InboundMessages,
  InboundPost,
  OpenConnection,
  Routed,
  UndeliveredMessage,
} from '../channel.ts'
import {
  asObject,
  type JsonObject,
  objectsIn,
  parseObject,
  readId,
  storableText,
} from '../fields.ts'
import { parseContent } from './content.ts'
import { errorOf } from './graph.ts'

const PHONE_NUMBER_ID = /^\d{1,30}$/
const PHONE = /^\d{5,20}$/
/**
 * People with a user name need not show their number: `DE.13491208655302741918`, the same for all
 * numbers of a business.
 */
const USER = /^[A-Z]{2}\.[A-Za-z0-9.]{1,140}$/
const MESSAGE = /^[\x21-\x7e]{1,300}$/
const SECONDS = /^\d{1,12}$/

/** Meta sends at most a thousand changes in a post. */
const MOST = 1_000
const LONGEST_NAME = 200
/** How long after a message of a person free text may be sent. */
const WINDOW_MS = 24 * 3_600_000

/** The changes that tell of messages, each of one phone number of ours. */
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
  /** `+4917…`, or the id of a user without a number. */
  id: string
  /** How Meta wants the recipient. */
  to: { to: string } | { recipient: string }
}

const personOf = (message: JsonObject): Person | undefined => {
  const phone = readId(message.from, PHONE)
  if (phone !== undefined) return { id: `+${phone}`, to: { to: phone } }
  const user = readId(message.from_user_id, USER)
  return user === undefined ? undefined : { id: user, to: { recipient: user } }
}

/** The sender's name in WhatsApp: chosen freely, and changed at will. */
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
  // Whoever answers in a group answers everybody in it.
  if (id === undefined || !person || message.group_id !== undefined) return []
  const content = parseContent(message)
  if (!content) return []
  const at = readId(message.timestamp, SECONDS)
  const until = (at === undefined ? now : Math.min(Number(at) * 1_000, now)) + WINDOW_MS
  const attachments: Attachment[] = content.attachments
  return [
    {
      ...{ eventIds: [id], sender: { id: person.id, name: nameOf(contacts, message) } },
      ...{ thread: person.id, isShared: false, subject: null, text: content.text, attachments },
      ...{
        replyTo: { ...person.to, messageId: id, until },
        directTo: { ...person.to },
        toFetch: null,
      },
    },
  ]
}

/** What our messages carry so that reports on them say which they are about. */
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

/** `sent`, `delivered`, `read` and the like say nothing that a reply's state has. */
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
