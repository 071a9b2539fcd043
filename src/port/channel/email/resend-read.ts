/** Resend's posts, which are signed by Svix and report that a mail arrived. */
import { isObject } from '#kernel/json-value'
import { isWebhookSecret, newWebhookSecret, verifiedId } from '../../webhook.ts'
import type { InboundMessages, InboundPost, OpenConnection } from '../channel.ts'
import { postedJson } from '../posts.ts'
import { mailboxOf } from './address.ts'
import { mailThread } from './headers.ts'
import { attachmentOf, keysOf, messageOf, objectList, textList } from './mail.ts'
import { mailSubject } from './text.ts'

const ID = /^[A-Za-z0-9_-]{1,100}$/
export const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value)

const RECEIVED = 'email.received'
const NOBODYS = newWebhookSecret()

const eventOf = (
  post: InboundPost,
): { type: unknown; data: Record<string, unknown> } | undefined => {
  const json = postedJson(post)
  return json && isObject(json.data) ? { type: json.type, data: json.data } : undefined
}

/** All other events are about mails that we sent. */
export const recipients = (post: InboundPost): string[] => {
  const { type, data } = eventOf(post) ?? { type: undefined, data: {} }
  const { received_for, to, cc, bcc, from } = data
  return keysOf(type === RECEIVED ? [received_for, to, cc, bcc].flatMap(textList) : textList(from))
}

export const verify = (
  { headers, body, now }: InboundPost,
  { credentials }: OpenConnection,
): boolean => {
  const secret = credentials.signingSecret ?? ''
  const isUsable = isResendSecret(secret)
  const standard = new Headers(
    ['id', 'timestamp', 'signature'].map((name) => [
      `webhook-${name}`,
      headers.get(`svix-${name}`) ?? '',
    ]),
  )
  return (
    verifiedId(standard, body, { secret: isUsable ? secret : NOBODYS, now }) !== undefined &&
    isUsable
  )
}

export const isResendSecret = (secret: string): boolean =>
  secret.startsWith('whsec_') && isWebhookSecret(secret)

export const attachmentsOf = (email: string, files: unknown) =>
  objectList(files).map(({ id, filename, content_type, size }) =>
    attachmentOf(
      { name: filename, type: content_type, size },
      isId(id) ? { email, attachment: id } : null,
    ),
  )

export const read = (post: InboundPost, connection: OpenConnection): InboundMessages => {
  const event = eventOf(post)
  if (event?.type !== RECEIVED || !recipients(post).includes(connection.routingKey)) return []
  const { email_id: email, from, subject, message_id, attachments } = event.data
  if (!isId(email) || typeof from !== 'string') return []
  const thread = mailThread(
    new Map(),
    typeof message_id === 'string' ? message_id.slice(0, 1_000) : undefined,
  )
  const mail = {
    from,
    subject: mailSubject(subject),
    thread,
    eventIds: [`email:${email}`],
    text: null,
  }
  const message = messageOf(
    {
      ...mail,
      attachments: attachmentsOf(email, attachments),
      toFetch: { email, from: mailboxOf(from)?.address ?? null },
    },
    connection,
  )
  return message ? [message] : []
}
