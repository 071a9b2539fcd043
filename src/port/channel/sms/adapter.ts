/** SMS and MMS by Twilio. */
import { isObject } from '#kernel/json-value'
import { beginning, storable } from '#kernel/storable'
import type { Egress } from '#port/egress/egress'
import { answerObject, basicAuth, callProvider, failUnanswered, isSuccess } from '../answers.ts'
import type {
  Attachment,
  ChannelAdapter,
  CredentialCheck,
  Fetched,
  InboundMessage,
  InboundPost,
  OpenConnection,
  Outgoing,
  SendResult,
} from '../channel.ts'
import { downloadFrom } from '../downloads.ts'
import { formField, type PostedForm, postedForm, postedJson } from '../posts.ts'
import { connectionError, sentOf } from './errors.ts'
import { isSignedByTwilio } from './signature.ts'

const NUMBER = /^\+[1-9]\d{6,14}$/
const ACCOUNT = /^AC[0-9a-f]{32}$/i
const MESSAGE = /^(SM|MM)[0-9a-f]{32}$/i
const MEDIA = /\/Media\/(ME[0-9a-f]{32})$/i
const MOST_MEDIA = 10
const LONGEST_TEXT = 10_000

/**
 * Words that Twilio itself answers. After an opt-out, it takes no message of ours until the sender
 * opts in again. YES also opts in, but people answer questions with it, and only `OptOutType` tells
 * the two apart.
 */
const OPT_WORDS = new Set([
  ...['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT', 'OPT-OUT'],
  ...['START', 'UNSTOP', 'HELP', 'INFO'],
])

const pathOf = (accountSid: string, rest: string): string =>
  `/2010-04-01/Accounts/${accountSid}/${rest}`

/** A JSON post has the same names as a form. */
const formOfPost = (post: InboundPost): PostedForm | undefined => {
  const json = postedJson(post)
  if (!json) return postedForm(post)
  const fields = Object.entries(json).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[name, String(value)] as const] : [],
  )
  return { fields, files: [] }
}

/**
 * Whether a post is about a message that we sent. Such posts have the number that we sent to as
 * their sender.
 */
const isStatus = (form: PostedForm): boolean => formField(form, 'MessageStatus') !== ''

const attachmentsOf = (form: PostedForm): Attachment[] => {
  const count = Math.min(Number(formField(form, 'NumMedia')) || 0, MOST_MEDIA)
  return Array.from({ length: Math.max(0, Math.trunc(count)) }, (_, at) => {
    const media = MEDIA.exec(formField(form, `MediaUrl${at}`))?.[1]
    const mimeType = formField(form, `MediaContentType${at}`).toLowerCase().slice(0, 100)
    const ref = media === undefined ? null : { message: formField(form, 'MessageSid'), media }
    return { name: `attachment ${at + 1}`, mimeType, byteSize: null, ref }
  })
}

const isOptWord = (form: PostedForm): boolean =>
  formField(form, 'OptOutType') !== '' ||
  OPT_WORDS.has(formField(form, 'Body').trim().slice(0, 20).toUpperCase())

const messageOf = (
  form: PostedForm,
  { routingKey, credentials }: OpenConnection,
): InboundMessage | undefined => {
  const [sid, from, account] = ['MessageSid', 'From', 'AccountSid'].map((name) =>
    formField(form, name),
  )
  if (isStatus(form) || formField(form, 'To') !== routingKey || account !== credentials.accountSid)
    return undefined
  // Short codes and names belong to machines, and a message from our own number would have us
  // answer ourselves.
  if (!MESSAGE.test(sid!) || !NUMBER.test(from!) || from === routingKey || isOptWord(form))
    return undefined
  const text = beginning(storable(formField(form, 'Body')).trim(), LONGEST_TEXT)
  const attachments = attachmentsOf(form)
  if (text === '' && attachments.length === 0) return undefined
  const replyTo = { to: from! }
  const thread = from!
  const base = {
    eventIds: [`message:${sid}`],
    sender: { id: from!, name: null },
    thread,
    isShared: false,
    subject: null,
  }
  return { ...base, text, attachments, replyTo, directTo: replyTo, toFetch: null }
}

const keysOf = (form: PostedForm): string[] =>
  [formField(form, isStatus(form) ? 'From' : 'To')].filter((key) => NUMBER.test(key))

const authOf = ({ credentials }: OpenConnection): Record<string, string> => ({
  authorization: basicAuth(credentials.accountSid ?? '', credentials.authToken ?? ''),
})

const missing = ({ credentials }: OpenConnection): string | undefined => {
  if (!ACCOUNT.test(credentials.accountSid ?? ''))
    return 'accountSid must be AC and 32 hexadecimal digits'
  return credentials.authToken ? undefined : 'authToken is missing'
}

export interface SmsParts {
  egress: Egress
  urls: Readonly<Record<'twilio', string>>
}

const check = async (
  { egress, urls }: SmsParts,
  connection: OpenConnection,
  signal: AbortSignal,
): Promise<CredentialCheck> => {
  const error = missing(connection)
  if (error !== undefined) return { kind: 'refused', error }
  const { routingKey, credentials } = connection
  const query = new URLSearchParams({ PhoneNumber: routingKey })
  const asked = `${urls.twilio}${pathOf(credentials.accountSid!, 'IncomingPhoneNumbers.json')}?${query}`
  const called = await callProvider(egress, { url: asked, headers: authOf(connection), signal })
  if (called.kind === 'forbidden') return { kind: 'refused', error: called.error }
  if (called.kind !== 'answered') return { kind: 'unreachable', error: called.error }
  const refusal = connectionError(called)
  if (refusal !== undefined) return { kind: 'refused', error: refusal }
  const numbers = isSuccess(called) ? answerObject(called)?.incoming_phone_numbers : undefined
  if (!Array.isArray(numbers))
    return { kind: 'unreachable', error: `Twilio answered with HTTP ${called.status}` }
  const number = numbers.filter(isObject).find(({ phone_number }) => phone_number === routingKey)
  if (!number)
    return { kind: 'refused', error: `${routingKey} is not a number of this Twilio account` }
  const { capabilities } = number
  const isMute = isObject(capabilities) && (capabilities.sms ?? capabilities.SMS) === false
  return isMute
    ? { kind: 'refused', error: `${routingKey} cannot send and receive SMS` }
    : { kind: 'proven' }
}

const send = async (
  { egress, urls }: SmsParts,
  connection: OpenConnection,
  { replyTo, text }: Outgoing,
  signal: AbortSignal,
): Promise<SendResult> => {
  const error = missing(connection)
  if (error !== undefined) return { kind: 'refused', error, of: 'connection' }
  const { to } = replyTo
  if (typeof to !== 'string' || !NUMBER.test(to))
    return { kind: 'refused', error: 'the recipient is not a number', of: 'message' }
  const body = new URLSearchParams({ To: to, From: connection.routingKey, Body: text }).toString()
  const headers = { ...authOf(connection), 'content-type': 'application/x-www-form-urlencoded' }
  const address = `${urls.twilio}${pathOf(connection.credentials.accountSid!, 'Messages.json')}`
  const called = await callProvider(egress, { url: address, headers, body, signal })
  return called.kind === 'answered' ? sentOf(called) : failUnanswered(called)
}

/** Twilio redirects to the bytes, which can be read without credentials. */
const download = async (
  { egress, urls }: SmsParts,
  connection: OpenConnection,
  { message, media }: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Fetched<Uint8Array>> => {
  if (missing(connection) !== undefined)
    return { kind: 'gone', error: 'the connection has no credentials' }
  if (!MESSAGE.test(String(message)) || !MEDIA.test(`/Media/${media}`))
    return { kind: 'gone', error: 'the attachment has no address' }
  const address = `${urls.twilio}${pathOf(connection.credentials.accountSid!, `Messages/${message}/Media/${media}`)}`
  return downloadFrom(egress, { url: address, headers: authOf(connection) }, signal)
}

const FIELDS = {
  credentials: {
    accountSid: {
      needed: true,
      description:
        'The SID of the Twilio account (or subaccount) that has the number: AC and 32 digits.',
    },
    authToken: {
      needed: true,
      description: 'Its auth token, with which Twilio signs its requests.',
    },
  },
  config: {},
}

const routingKeyOf = (text: string): { key: string } | { error: string } => {
  const key = text.replaceAll(/[\s().-]/g, '')
  return NUMBER.test(key)
    ? { key }
    : { error: 'must be a phone number with its country code, such as +14155550123' }
}

/** Twilio queues what a number cannot send at once. Most numbers send one segment per second. */
const SPACING_MS = 1_000

export const smsAdapter = (parts: SmsParts): ChannelAdapter => ({
  channel: 'sms',
  fields: FIELDS,
  routingKeyOf,
  configError: () => undefined,
  spacingMs: SPACING_MS,
  route(post) {
    const form = formOfPost(post)
    const keys = form ? keysOf(form) : []
    return keys.length > 0 ? { kind: 'keys', keys } : { kind: 'unknown' }
  },
  verify: (post, { credentials }) => isSignedByTwilio(post, credentials.authToken ?? ''),
  read(post, connection) {
    const form = formOfPost(post)
    const message = form && messageOf(form, connection)
    return message ? [message] : []
  },
  check: (connection, signal) => check(parts, connection, signal),
  send: (connection, message, signal) => send(parts, connection, message, signal),
  download: (connection, ref, signal) => download(parts, connection, ref, signal),
})
