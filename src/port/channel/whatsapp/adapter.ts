/** WhatsApp: a business's phone number, through Meta's Cloud API. */

import { objectsIn } from '#port/fields'
import type {
  ChannelAdapter,
  CredentialCheck,
  Fetched,
  InboundPost,
  OpenConnection,
  Outgoing,
  SendResult,
} from '../channel.ts'
import { downloadFrom } from '../downloads.ts'
import { broughtBy } from '../passed-on.ts'
import { isHmac } from '../signature.ts'
import { callGraph, type GraphParts } from './graph.ts'
import { readFailures, readWhatsAppPost, routeWhatsAppPost } from './read.ts'

const PHONE_NUMBER_ID = /^\d{5,30}$/
/** Learned by `check`. */
const LEARNED = ['displayPhoneNumber', 'verifiedName']
/** Meta accepts 80 messages per second from a number. */
const SPACING_MS = 50

const fields: ChannelAdapter['fields'] = {
  credentials: {
    accessToken: {
      needed: true,
      description:
        'Access token of a system user, with whatsapp_business_messaging, that does not expire',
    },
    appSecret: {
      needed: true,
      description: 'App secret of the Meta app, from "App settings", "Basic"',
    },
    verifyToken: {
      needed: true,
      description:
        'Any text of 16 characters or more: given here and to Meta, which shows it when it verifies the webhook',
    },
  },
  config: {
    displayPhoneNumber: {
      description: 'the phone number; Meta tells it when the connection is checked',
    },
    verifiedName: {
      description: 'the name of the business; Meta tells it when the connection is checked',
    },
  },
}

const routingKeyOf: ChannelAdapter['routingKeyOf'] = (text) => {
  const key = text.trim()
  return PHONE_NUMBER_ID.test(key)
    ? { key }
    : { error: 'must be the id of a phone number in the Cloud API (digits, not the number itself)' }
}

const configError: ChannelAdapter['configError'] = (config) => {
  const wrong = LEARNED.find(
    (name) => config[name] !== undefined && typeof config[name] !== 'string',
  )
  return wrong && `${wrong} must be text`
}

const verify = ({ headers, body }: InboundPost, { credentials }: OpenConnection): boolean => {
  const secret = credentials.appSecret ?? ''
  const sent = headers.get('x-hub-signature-256') ?? ''
  const isSigned = isHmac(sent.replace(/^sha256=/, ''), secret, body)
  return isSigned && secret !== '' && sent.startsWith('sha256=')
}

const SHORTEST_VERIFY_TOKEN = 16

const check = async (
  parts: GraphParts,
  { routingKey, credentials }: OpenConnection,
  signal: AbortSignal,
): Promise<CredentialCheck> => {
  if ((credentials.verifyToken ?? '').length < SHORTEST_VERIFY_TOKEN)
    return {
      kind: 'refused',
      error: `credentials.verifyToken must have at least ${SHORTEST_VERIFY_TOKEN} characters`,
    }
  const query = { fields: 'id,display_phone_number,verified_name' }
  const outcome = await callGraph(parts, { credentials, path: routingKey, query, signal })
  if (outcome.kind === 'refused') return { kind: 'refused', error: outcome.error }
  if (outcome.kind !== 'ok') return { kind: 'unreachable', error: outcome.error }
  const {
    id,
    display_phone_number: displayPhoneNumber,
    verified_name: verifiedName,
  } = outcome.answer
  if (id !== routingKey || typeof displayPhoneNumber !== 'string')
    return { kind: 'refused', error: `${routingKey} is not the id of a phone number` }
  return {
    kind: 'proven',
    learned: { displayPhoneNumber, ...(typeof verifiedName === 'string' ? { verifiedName } : {}) },
  }
}

const CLOSED = 'the person wrote more than 24 hours ago: WhatsApp takes no free text any more'

const send = async (
  parts: WhatsAppParts,
  { routingKey, credentials }: OpenConnection,
  message: Outgoing,
  signal: AbortSignal,
): Promise<SendResult> => {
  const { to, recipient, messageId, until } = message.replyTo
  if (typeof to !== 'string' && typeof recipient !== 'string')
    return { kind: 'refused', error: 'the message has nobody to go to', of: 'message' }
  if (typeof until === 'number' && parts.now() > until)
    return { kind: 'refused', error: CLOSED, of: 'message' }
  const body = {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    ...(typeof to === 'string' ? { to } : { recipient }),
    type: 'text',
    text: { preview_url: false, body: message.text },
    // Meta sends this back when it reports on the message later.
    biz_opaque_callback_data: message.id,
    // The first part quotes the message that it answers.
    ...(message.part === 0 && typeof messageId === 'string'
      ? { context: { message_id: messageId } }
      : {}),
  }
  const outcome = await callGraph(parts, {
    credentials,
    path: `${routingKey}/messages`,
    signal,
    body,
  })
  if (outcome.kind !== 'ok') return outcome
  const [sent] = objectsIn(outcome.answer.messages, 1)
  return { kind: 'sent', externalId: typeof sent?.id === 'string' ? sent.id.slice(0, 300) : null }
}

/** Meta's media host does not answer requests without a user agent. */
const AGENT = 'Tendril-Channels/1'

/**
 * The hosts on which Meta keeps media. An answer may name others, but the token goes to none of
 * them.
 */
const META = /(^|\.)(fbsbx\.com|facebook\.com|whatsapp\.net|fbcdn\.net)$/

const isMetas = (url: string, graph: string): boolean => {
  const [given, own] = [URL.parse(url), URL.parse(graph)]
  if (given === null || given.username !== '' || given.password !== '') return false
  return (
    given.origin === own?.origin ||
    (given.protocol === 'https:' && given.port === '' && META.test(given.hostname))
  )
}

/** Takes two requests, because the address of the bytes is valid only for five minutes. */
const download = async (
  parts: GraphParts,
  { credentials, routingKey }: OpenConnection,
  { id }: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Fetched<Uint8Array>> => {
  const query = { phone_number_id: routingKey }
  const outcome = await callGraph(parts, {
    credentials,
    path: encodeURIComponent(String(id)),
    query,
    signal,
  })
  if (outcome.kind === 'refused') return { kind: 'gone', error: outcome.error }
  if (outcome.kind !== 'ok') return { kind: 'unreachable', error: outcome.error }
  const { url } = outcome.answer
  if (typeof url !== 'string' || !isMetas(url, parts.urls.whatsapp))
    return { kind: 'gone', error: 'Meta does not say where the file is' }
  const headers = { authorization: `Bearer ${credentials.accessToken ?? ''}`, 'user-agent': AGENT }
  return downloadFrom(parts.egress, { url, headers }, signal)
}

export interface WhatsAppParts extends GraphParts {
  /** Epoch milliseconds. */
  now(): number
}

export const whatsAppAdapter = (parts: WhatsAppParts): ChannelAdapter => ({
  channel: 'whatsapp',
  fields,
  spacingMs: SPACING_MS,
  routingKeyOf,
  configError,
  route: routeWhatsAppPost,
  verify,
  read: readWhatsAppPost,
  undelivered: readFailures,
  check: (connection, signal) => check(parts, connection, signal),
  send: (connection, message, signal) => send(parts, connection, message, signal),
  download: async (connection, ref, signal) =>
    broughtBy(ref) ?? download(parts, connection, ref, signal),
})
