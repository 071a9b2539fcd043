/**
 * Mail through Mailgun's routes, which post what arrived: `forward()` includes the files,
 * `store(notify=…)` gives their addresses. Mailgun's signature covers a time and a token, but
 * nothing of the mail. So each token counts only once, and an address that a post names gets our
 * credentials only if it is Mailgun's own.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject } from '#kernel/json-value'
import {
  answerObject,
  basicAuth,
  callProvider,
  failUnanswered,
  isSuccess,
  type ProviderAnswer,
  waitOf,
} from '../answers.ts'
import type {
  Attachment,
  CredentialCheck,
  Fetched,
  FetchedMessage,
  InboundMessages,
  InboundPost,
  OpenConnection,
  Outgoing,
  SendResult,
} from '../channel.ts'
import { downloadFrom } from '../downloads.ts'
import { formField, type PostedForm, postedForm } from '../posts.ts'
import { addressesIn, domainOf } from './address.ts'
import { headersOf, isAutomatic, type MailHeaders, mailThread } from './headers.ts'
import {
  attachmentOf,
  keysOf,
  type MailParts,
  type MailProvider,
  mailToSend,
  messageOf,
  objectList,
} from './mail.ts'
import { mailSubject, wordsOfHtml, wordsOfText } from './text.ts'

/** Mailgun repeats a post for eight hours, with the signature of the first one. */
const OLDEST_MS = 9 * 3_600_000
const NEWEST_MS = 300_000
const TOKEN = /^[A-Za-z0-9]{20,100}$/
const inlineLimits = {
  /** The limit for a text file that comes with the post and is kept until it is read. */
  bytes: 131_072,
  files: 5,
  /** The limit for HTML that is kept until it is read. */
  htmlLength: 200_000,
} as const
const TEXT_TYPE = /^text\/(plain|markdown|x-markdown)\b/i

const signatureFields = (
  form: PostedForm,
): { timestamp: string; token: string; signature: string } => {
  const [timestamp, token, signature] = ['timestamp', 'token', 'signature'].map((name) =>
    formField(form, name),
  )
  return { timestamp: timestamp!, token: token!, signature: signature! }
}

const EMPTY: PostedForm = { fields: [], files: [] }

const verify = (post: InboundPost, { credentials }: OpenConnection): boolean => {
  const { timestamp, token, signature } = signatureFields(postedForm(post) ?? EMPTY)
  const key = credentials.signingSecret ?? ''
  const expected = Buffer.from(
    createHmac('sha256', key).update(`${timestamp}${token}`).digest('hex'),
  )
  const given = Buffer.from(signature)
  const isSigned = given.length === expected.length && timingSafeEqual(given, expected)
  const age = /^\d{1,12}$/.test(timestamp) ? post.now - Number(timestamp) * 1_000 : Number.NaN
  return isSigned && TOKEN.test(token) && age >= -NEWEST_MS && age <= OLDEST_MS && key !== ''
}

/** A post may be for several recipients. */
const recipients = (post: InboundPost): string[] =>
  keysOf(addressesIn(formField(postedForm(post) ?? EMPTY, 'recipient')))

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** All headers are in one JSON field. Some also have fields of their own. */
const mailHeadersOf = (form: PostedForm): MailHeaders => {
  const listed = headersOf(parseJson(formField(form, 'message-headers')))
  const own = ['Message-Id', 'In-Reply-To', 'References'].map((name) => [
    name,
    formField(form, name),
  ])
  return new Map([...headersOf(own.filter(([, value]) => value !== '')), ...listed])
}

/** Files of `store(notify=…)`, which Mailgun keeps for three days. */
const storedFiles = (form: PostedForm): Attachment[] =>
  objectList(parseJson(formField(form, 'attachments'))).map((file) =>
    attachmentOf(
      { name: file.name, type: file['content-type'], size: file.size },
      typeof file.url === 'string' && file.url.length <= 1_000 ? { url: file.url } : null,
    ),
  )

/**
 * Files of `forward()`. Their bytes are in the post and cannot be fetched later, so they must be
 * kept.
 */
const postedFiles = ({ files }: PostedForm): Attachment[] => {
  let kept = 0
  return files.map(({ name, mimeType, bytes }) => {
    const isKept =
      TEXT_TYPE.test(mimeType) && bytes.length <= inlineLimits.bytes && kept++ < inlineLimits.files
    const ref = isKept ? { base64: Buffer.from(bytes).toString('base64') } : null
    return attachmentOf({ name, type: mimeType, size: bytes.length }, ref)
  })
}

/** Mailgun passes on the sender of the envelope, which is empty if the mail is a report. */
const hasNoSender = (form: PostedForm): boolean =>
  /^\s*(<\s*>)?\s*$/.test(formField(form, 'sender'))

/**
 * Mailgun checks incoming mail, and if the domain's spam filter marks mails, reports the results in
 * headers of its own. A mail that fails one check and passes none did not come from its alleged
 * sender. A forwarded mail fails SPF, but keeps its signature. Without these headers, nothing is
 * known.
 */
const isForged = (headers: MailHeaders): boolean => {
  const said = ['x-mailgun-spf', 'x-mailgun-dkim-check-result'].map((name) =>
    (headers.get(name) ?? '').trim().toLowerCase(),
  )
  return said.includes('fail') && !said.includes('pass')
}

const read = (post: InboundPost, connection: OpenConnection): InboundMessages => {
  const form = postedForm(post)
  if (!form || !recipients(post).includes(connection.routingKey)) return []
  const headers = mailHeadersOf(form)
  if (hasNoSender(form) || isAutomatic(headers) || isForged(headers)) return []
  const subject = mailSubject(formField(form, 'subject'))
  const [plain, html] = [formField(form, 'body-plain'), formField(form, 'body-html')]
  const isHtml = plain.trim() === '' && html !== ''
  const content = isHtml
    ? { text: null, toFetch: { html: html.slice(0, inlineLimits.htmlLength), subject } }
    : { text: wordsOfText(plain, subject), toFetch: null }
  const attachments = [...postedFiles(form), ...storedFiles(form)]
  if (content.text === '' && attachments.length === 0 && subject === null) return []
  const event = { eventIds: [`token:${signatureFields(form).token}`], thread: mailThread(headers) }
  const message = messageOf(
    {
      from: formField(form, 'from') || (headers.get('from') ?? ''),
      subject,
      attachments,
      ...event,
      ...content,
    },
    connection,
  )
  return message ? [message] : []
}

const urlOf = ({ urls }: MailParts, { config }: OpenConnection): string =>
  config.region === 'eu' ? urls.mailgun_eu : urls.mailgun

const authOf = ({ credentials }: OpenConnection) => ({
  authorization: basicAuth('api', credentials.apiKey ?? ''),
})

const fetchText = async ({
  html,
  subject,
}: Record<string, unknown>): Promise<Fetched<FetchedMessage>> => {
  if (typeof html !== 'string') return { kind: 'gone', error: 'the post brought no text' }
  const text = await wordsOfHtml(html, typeof subject === 'string' ? subject : null)
  return { kind: 'fetched', value: { text, attachments: [] } }
}

const check = async (
  parts: MailParts,
  connection: OpenConnection,
  signal: AbortSignal,
): Promise<CredentialCheck> => {
  const { credentials, routingKey } = connection
  const missing = ['apiKey', 'signingSecret'].find((name) => !credentials[name])
  if (missing) return { kind: 'refused', error: `credentials.${missing} is missing` }
  const name = domainOf(routingKey)
  const url = `${urlOf(parts, connection)}/v4/domains/${encodeURIComponent(name)}`
  const called = await callProvider(parts.egress, { url, headers: authOf(connection), signal })
  if (called.kind === 'forbidden') return { kind: 'refused', error: called.error }
  if (called.kind !== 'answered') return { kind: 'unreachable', error: called.error }
  if (called.status === 401 || called.status === 403)
    return {
      kind: 'refused',
      error: `Mailgun does not accept apiKey (HTTP ${called.status}); is region right?`,
    }
  if (called.status === 404)
    return {
      kind: 'refused',
      error: `${name} is not a domain of this account of Mailgun; is region right?`,
    }
  const domain = isSuccess(called) ? answerObject(called)?.domain : undefined
  if (!isObject(domain) || domain.name !== name)
    return { kind: 'unreachable', error: `Mailgun answered with HTTP ${called.status}` }
  if (domain.state === 'active' && domain.is_disabled !== true) return { kind: 'proven' }
  return { kind: 'refused', error: `${name} is not active at Mailgun: verify its DNS records` }
}

const sentOf = (answer: ProviderAnswer): SendResult => {
  const { status } = answer
  if (isSuccess(answer)) {
    const id = answerObject(answer)?.id
    return { kind: 'sent', externalId: typeof id === 'string' ? id.slice(0, 300) : null }
  }
  if (status === 429)
    return { kind: 'unsent', error: 'Mailgun takes no more mails at the moment', ...waitOf(answer) }
  if ([401, 402, 403, 404].includes(status))
    return {
      kind: 'refused',
      error: `Mailgun does not let this connection send (HTTP ${status})`,
      of: 'connection',
    }
  if (status >= 400 && status < 500)
    return { kind: 'refused', error: `Mailgun refused the mail (HTTP ${status})`, of: 'message' }
  return { kind: 'unknown', error: `Mailgun answered with HTTP ${status}` }
}

const send = async (
  parts: MailParts,
  connection: OpenConnection,
  message: Outgoing,
  signal: AbortSignal,
): Promise<SendResult> => {
  const mail = mailToSend(connection, message)
  if (!mail) return { kind: 'refused', error: 'the message has no recipient', of: 'message' }
  const { headers: given, ...fields } = mail
  const name = domainOf(connection.routingKey)
  // Tracking would route each link through Mailgun. The id is the same on every try, so that mail
  // programs show only one of two copies.
  const all = {
    ...given,
    'Message-Id': `<tendril.${message.id.replaceAll(/[^A-Za-z0-9.-]/g, '.')}@${name}>`,
  }
  const form = new URLSearchParams({ ...fields, 'o:tracking': 'no' })
  for (const [header, value] of Object.entries(all)) form.set(`h:${header}`, value)
  const url = `${urlOf(parts, connection)}/v3/${encodeURIComponent(name)}/messages`
  const headers = { ...authOf(connection), 'content-type': 'application/x-www-form-urlencoded' }
  const called = await callProvider(parts.egress, { url, headers, body: form.toString(), signal })
  return called.kind === 'answered' ? sentOf(called) : failUnanswered(called)
}

/**
 * Whether a URL belongs to Mailgun's storage, which has hosts of its own. No other host gets the
 * API key, because the post that named the address is not signed.
 */
const isStorage = (parts: MailParts, connection: OpenConnection, url: URL): boolean => {
  const isOwn = url.origin === new URL(urlOf(parts, connection)).origin
  const isMailguns =
    url.protocol === 'https:' && /(^|\.)mailgun\.(net|org)$/.test(url.hostname) && url.port === ''
  const path = `/v3/domains/${domainOf(connection.routingKey)}/messages/`
  return (
    (isOwn || isMailguns) && url.pathname.startsWith(path) && url.pathname.includes('/attachments/')
  )
}

const download = async (
  parts: MailParts,
  connection: OpenConnection,
  { base64, url: address }: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Fetched<Uint8Array>> => {
  if (typeof base64 === 'string') return { kind: 'fetched', value: Buffer.from(base64, 'base64') }
  const url = typeof address === 'string' ? URL.parse(address) : null
  if (!url || !isStorage(parts, connection, url))
    return { kind: 'gone', error: 'the attachment is not kept by Mailgun' }
  return downloadFrom(parts.egress, { url: url.href, headers: authOf(connection) }, signal)
}

export const mailgunMail = (parts: MailParts): MailProvider => ({
  recipients,
  verify,
  read,
  check: (connection, signal) => check(parts, connection, signal),
  send: (connection, message, signal) => send(parts, connection, message, signal),
  fetch: (_, toFetch) => fetchText(toFetch),
  download: (connection, ref, signal) => download(parts, connection, ref, signal),
  repeatableForMs: () => 0,
})
