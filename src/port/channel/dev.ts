/**
 * The channel for developers: anything that can sign a post can talk to the agent. Posts and
 * replies are JSON, signed as in Standard Webhooks, with the connection's secret in both
 * directions. Replies are kept in their rows, and also posted to `config.url` if that is set.
 */
import { Buffer } from 'node:buffer'
import { isObject } from '#kernel/json-value'
import { storable } from '#kernel/storable'
import { callOnce } from '#port/egress/call'
import type { Egress } from '../egress/egress.ts'
import { EgressRefused } from '../egress/target.ts'
import {
  isWebhookSecret,
  newWebhookSecret,
  retryAfterMs,
  signedHeaders,
  verifiedId,
} from '../webhook.ts'
import type {
  Attachment,
  ChannelAdapter,
  Fetched,
  InboundMessages,
  InboundPost,
  OpenConnection,
  Outgoing,
  SendResult,
} from './channel.ts'

const ROUTING_KEY = /^[A-Za-z0-9._-]{1,64}$/
const LONGEST = {
  id: 256,
  sender: 320,
  name: 200,
  thread: 256,
  text: 100_000,
  fileName: 200,
  mimeType: 100,
}
const TEXTS = ['id', 'sender', 'text'] as const
const OPTIONAL = ['name', 'thread'] as const
const MOST_ATTACHMENTS = 20
/** For the whole exchange with the receiver of replies. */
const DEADLINE_MS = 10_000
const ANSWER_BYTES = 16_384

/** Signs for connections without a secret. No post can name such a connection. */
const NOBODYS = newWebhookSecret()

const parseBody = (body: Uint8Array): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A text that is not empty and not longer than `most`. Undefined for anything else. */
const textOf = (value: unknown, most: number): string | undefined => {
  const text = typeof value === 'string' ? storable(value).trim() : ''
  return text !== '' && text.length <= most ? text : undefined
}

/** An attachment whose text comes with the post. */
const attachmentOf = (value: unknown): Attachment[] => {
  if (!isObject(value)) return []
  const name = textOf(value.name, LONGEST.fileName)
  if (name === undefined) return []
  const text = typeof value.text === 'string' ? storable(value.text) : undefined
  const mimeType = textOf(value.mimeType, LONGEST.mimeType) ?? 'text/plain'
  return [
    {
      name,
      mimeType,
      byteSize: text === undefined ? null : Buffer.byteLength(text),
      ref: text === undefined ? null : { text },
    },
  ]
}

/**
 * The prefix of senders on the page for talking to the connection. No post can come from such a
 * sender.
 */
export const PAGE_SENDER = 'page:'

/**
 * Names a required field that is missing or too long, or an optional one that is given but is not
 * such a text.
 */
const flawOf = ({ body, headers }: InboundPost): string | undefined => {
  const post: Record<string, unknown> = { ...parseBody(body) }
  post.id ??= headers.get('webhook-id')
  const isWrong = (name: (typeof TEXTS)[number] | (typeof OPTIONAL)[number]) =>
    textOf(post[name], LONGEST[name]) === undefined
  const wrong =
    TEXTS.find(isWrong) ?? OPTIONAL.find((name) => post[name] !== undefined && isWrong(name))
  if (textOf(post.sender, LONGEST.sender)?.startsWith(PAGE_SENDER))
    return `sender must not begin with ${PAGE_SENDER}, as people of the page do`
  if (wrong !== undefined)
    return `${wrong} must be text of 1 to ${LONGEST[wrong].toLocaleString('en')} characters`
  const { attachments = [] } = post
  if (
    !Array.isArray(attachments) ||
    attachments.length > MOST_ATTACHMENTS ||
    attachments.some((one) => attachmentOf(one).length === 0)
  )
    return `attachments must be a list of at most ${MOST_ATTACHMENTS}, each with a name of at most ${LONGEST.fileName} characters`
  return undefined
}

const read = (inbound: InboundPost, { routingKey }: OpenConnection): InboundMessages => {
  const post = parseBody(inbound.body)
  if (!post || post.routingKey !== routingKey || flawOf(inbound) !== undefined) return []
  const [id, sender, text] = [
    textOf(post.id ?? inbound.headers.get('webhook-id'), LONGEST.id)!,
    textOf(post.sender, LONGEST.sender)!,
    post.text,
  ]
  const thread = textOf(post.thread, LONGEST.thread)
  const { attachments = [] } = post
  return [
    {
      eventIds: [id],
      sender: { id: sender, name: textOf(post.name, LONGEST.name) ?? null },
      // Without a thread, each sender has a separate conversation.
      thread: thread ?? 'direct',
      isShared: thread !== undefined,
      subject: null,
      text: textOf(text, LONGEST.text)!,
      attachments: (attachments as unknown[]).flatMap(attachmentOf),
      toFetch: null,
      replyTo: { sender, thread: thread ?? null },
      directTo: { sender, thread: null },
    },
  ]
}

const route: ChannelAdapter['route'] = ({ body }) => {
  const key = parseBody(body)?.routingKey
  return typeof key === 'string' && ROUTING_KEY.test(key)
    ? { kind: 'keys', keys: [key] }
    : { kind: 'unknown' }
}

const verify: ChannelAdapter['verify'] = ({ headers, body, now }, { credentials }) => {
  const given = credentials.secret ?? ''
  const isUsable = isWebhookSecret(given)
  return (
    verifiedId(headers, body, { secret: isUsable ? given : NOBODYS, now }) !== undefined && isUsable
  )
}

const check: ChannelAdapter['check'] = async ({ credentials }) =>
  isWebhookSecret(credentials.secret ?? '')
    ? { kind: 'proven' }
    : {
        kind: 'refused',
        error:
          'credentials.secret must have at least 16 bytes: whsec_ and base64, or any other text',
      }

const configErrorOf =
  (egress: Egress) =>
  ({ url }: Readonly<Record<string, unknown>>): string | undefined => {
    if (url === undefined) return undefined
    if (typeof url !== 'string') return 'config.url must be a string'
    try {
      egress.check(url)
      return undefined
    } catch (cause) {
      if (cause instanceof EgressRefused) return `config.url is refused: ${cause.message}`
      throw cause
    }
  }

/** Statuses of a receiver that wants the same request again later. */
const ASKS_TO_WAIT = [429, 503]
/** Statuses that every later reply would get as well. */
const OF_THE_ADDRESS = [401, 403, 404, 405, 410]

const outcomeOf = (
  status: number,
  headers: Record<string, string | string[] | undefined>,
  now: number,
): SendResult => {
  const error = `the receiver answered ${status}`
  if (status >= 200 && status < 300) return { kind: 'sent', externalId: null }
  if (ASKS_TO_WAIT.includes(status)) {
    const wait = retryAfterMs(headers['retry-after'], now)
    return { kind: 'unsent', error, ...(wait === undefined ? {} : { retryAfterMs: wait }) }
  }
  if (status >= 500) return { kind: 'unknown', error }
  return { kind: 'refused', error, of: OF_THE_ADDRESS.includes(status) ? 'connection' : 'message' }
}

const send = async (
  egress: Egress,
  connection: OpenConnection,
  message: Outgoing,
  signal: AbortSignal,
): Promise<SendResult> => {
  const { url } = connection.config
  if (typeof url !== 'string') return { kind: 'sent', externalId: null }
  const { id, part, text, replyTo } = message
  const body = JSON.stringify({ id, routingKey: connection.routingKey, ...replyTo, part, text })
  const at = new Date()
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Tendril-Channels/1',
    ...signedHeaders({ id, at, body }, [connection.credentials.secret ?? NOBODYS]),
  }
  const request = {
    url,
    method: 'POST' as const,
    headers,
    body,
    deadlineMs: DEADLINE_MS,
    maxBytes: ANSWER_BYTES,
    signal,
  }
  const called = await callOnce(egress, request)
  if (called.kind === 'answered') return outcomeOf(called.status, called.headers, at.getTime())
  return called.kind === 'forbidden'
    ? { kind: 'refused', error: called.error, of: 'connection' }
    : called
}

const download = async ({ text }: Record<string, unknown>): Promise<Fetched<Uint8Array>> =>
  typeof text === 'string'
    ? { kind: 'fetched', value: Buffer.from(text) }
    : { kind: 'gone', error: 'the post brought no text' }

export const devAdapter = (egress: Egress): ChannelAdapter => ({
  channel: 'dev',
  fields: {
    credentials: {
      secret: {
        needed: true,
        description:
          'Signs posts and replies (HMAC-SHA256): whsec_ and base64, or any text of 16 bytes or more.',
      },
    },
    config: {
      url: {
        description:
          'Where replies are posted, signed with the secret. Without it they are kept, and shown on their page.',
      },
    },
  },
  routingKeyOf: (text) =>
    ROUTING_KEY.test(text)
      ? { key: text }
      : { error: 'must have 1 to 64 letters, digits, dots, hyphens and underscores' },
  configError: configErrorOf(egress),
  route,
  verify,
  flawOf,
  read,
  check,
  send: (connection, message, signal) => send(egress, connection, message, signal),
  spacingMs: 0,
  download: (_, ref) => download(ref),
})
