/** What both mail providers share: reading a mail as a message, and sending a message as a mail. */
import { isObject } from '#kernel/json-value'
import { beginning, storable } from '#kernel/storable'
import type { Egress } from '../../egress/egress.ts'
import type {
  Attachment,
  ChannelAdapter,
  InboundMessage,
  InboundPost,
  OpenConnection,
  Outgoing,
  ReplyTo,
} from '../channel.ts'
import { isMachine, mailboxOf, mailRoutes, parseMailAddress } from './address.ts'
import { hashedName, type MailThread } from './headers.ts'
import { replySubject } from './text.ts'

/** What a mail provider does. The mail adapter chooses one by `config.provider`. */
export type MailProvider = Required<
  Pick<
    ChannelAdapter,
    'verify' | 'read' | 'check' | 'send' | 'fetch' | 'download' | 'repeatableForMs'
  >
> & {
  /** Our addresses that a post may be for. */
  recipients(post: InboundPost): string[]
}

export interface MailParts {
  egress: Egress
  urls: Readonly<Record<'resend' | 'mailgun' | 'mailgun_eu', string>>
}

const MOST_RECIPIENTS = 50
const MOST_ATTACHMENTS = 20

/** The routing keys that headers with addresses name, at most 50 of them. */
export const keysOf = (headers: readonly string[]): string[] => {
  const found = headers
    .slice(0, MOST_RECIPIENTS)
    .flatMap((header) => mailboxOf(header)?.address ?? [])
  return [...new Set(found.flatMap(mailRoutes))].slice(0, MOST_RECIPIENTS)
}

export interface ReceivedMail {
  from: string
  subject: string | null
  thread: MailThread
  /** The provider's names of the event. */
  eventIds: string[]
  text: string | null
  attachments: Attachment[]
  toFetch: Record<string, unknown> | null
}

/** The name of a thread of mails. */
export const threadName = ({ root }: MailThread, otherwise: string): string =>
  hashedName('thread', root ?? otherwise)

/**
 * Answers go to the sender and never to `Reply-To`. Otherwise, a forged mail could have what its
 * alleged sender may read sent to somebody else.
 */
export const replyToOf = (
  address: string,
  subject: string | null,
  { id, references }: MailThread,
): ReplyTo => ({
  to: address,
  subject: replySubject(subject),
  ...(id === null ? {} : { inReplyTo: id }),
  ...(references.length === 0 ? {} : { references: references.join(' ') }),
})

/** Empty if nobody wrote it whom we could answer. */
export const messageOf = (
  mail: ReceivedMail,
  { routingKey }: OpenConnection,
): InboundMessage | undefined => {
  const sender = mailboxOf(mail.from)
  if (!sender || sender.address === routingKey || isMachine(sender.address)) return undefined
  const { subject, thread, text, toFetch } = mail
  // A mail to two of our addresses is a separate message for each. Others know the mail's id as
  // well, so it is bound to the sender; they cannot use it to block the sender's mail.
  const ids = [
    ...mail.eventIds,
    ...(thread.id === null ? [] : [`mail:${thread.id}:${sender.address}`]),
  ]
  return {
    eventIds: ids.map((id) => hashedName('event', id, routingKey)),
    sender: { id: sender.address, name: sender.name },
    subject,
    text,
    toFetch,
    // Nobody vouches for who writes in a thread of mails.
    thread: threadName(thread, mail.eventIds[0]!),
    isShared: false,
    attachments: mail.attachments.slice(0, MOST_ATTACHMENTS),
    replyTo: replyToOf(sender.address, subject, thread),
    directTo: { to: sender.address, subject: 'A message from your agent' },
  }
}

/** As the sender named it. */
export const attachmentOf = (
  file: { name: unknown; type: unknown; size: unknown },
  ref: Attachment['ref'],
): Attachment => {
  const name =
    typeof file.name === 'string'
      ? beginning(storable(file.name.replaceAll(/[\p{Cc}]+/gu, ' ')).trim(), 200)
      : ''
  const size = Number(file.size)
  return {
    name: name === '' ? 'attachment' : name,
    mimeType:
      typeof file.type === 'string'
        ? file.type.split(';', 1)[0]!.trim().toLowerCase().slice(0, 100)
        : '',
    byteSize: file.size !== undefined && Number.isSafeInteger(size) && size >= 0 ? size : null,
    ref,
  }
}

export interface MailToSend {
  from: string
  to: string
  subject: string
  text: string
  html?: string
  headers: Record<string, string>
}

/** A text without line ends cannot add a header. */
const headerText = (value: unknown, most: number): string | undefined =>
  typeof value === 'string' && value !== ''
    ? beginning(value.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim(), most)
    : undefined

const senderOf = ({ routingKey, config }: OpenConnection): string => {
  const name = headerText(config.fromName, 100)
  return name === undefined ? routingKey : `"${name.replaceAll(/["\\<>]/g, '')}" <${routingKey}>`
}

/** Undefined if there is no recipient. The headers tell other machines not to answer (RFC 3834). */
export const mailToSend = (
  connection: OpenConnection,
  { replyTo, text, html }: Outgoing,
): MailToSend | undefined => {
  const to = typeof replyTo.to === 'string' ? parseMailAddress(replyTo.to) : undefined
  if (to === undefined) return undefined
  const [answered, references] = [
    headerText(replyTo.inReplyTo, 300),
    headerText(replyTo.references, 1_000),
  ]
  const threading = {
    ...(answered ? { 'In-Reply-To': answered } : {}),
    ...(references ? { References: references } : {}),
  }
  const headers = {
    ...threading,
    'Auto-Submitted': 'auto-replied',
    'X-Auto-Response-Suppress': 'All',
  }
  const subject = headerText(replyTo.subject, 310) ?? replySubject(null)
  return {
    from: senderOf(connection),
    to,
    subject,
    headers,
    text,
    ...(html === undefined ? {} : { html }),
  }
}

export const textList = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.filter((each) => typeof each === 'string')
    : typeof value === 'string'
      ? [value]
      : []

export const objectList = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : []
