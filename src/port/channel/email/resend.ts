/**
 * Mail through Resend, whose posts only report that a mail arrived (resend-read.ts). Its text is
 * fetched.
 */
import { isObject } from '#kernel/json-value'
import {
  answerObject,
  callProvider,
  failUnanswered,
  isSuccess,
  type ProviderAnswer,
  waitOf,
} from '../answers.ts'
import type {
  CredentialCheck,
  Fetched,
  FetchedMessage,
  OpenConnection,
  Outgoing,
  SendResult,
} from '../channel.ts'
import { downloadFrom } from '../downloads.ts'
import { domainOf, mailboxOf } from './address.ts'
import { headersOf, isAutomatic, mailThread } from './headers.ts'
import {
  type MailParts,
  type MailProvider,
  mailToSend,
  objectList,
  replyToOf,
  threadName,
} from './mail.ts'
import { attachmentsOf, isId, isResendSecret, read, recipients, verify } from './resend-read.ts'
import { mailSubject, wordsOfHtml, wordsOfText } from './text.ts'

/** Resend recognises a repeated idempotency key for a day. */
const REPEATABLE_MS = 86_400_000
/** The limit for a mail with its HTML but without attachments. */
const MOST_MAIL_BYTES = 2_097_152
const MOST_PAGES = 10

const authOf = ({ credentials }: OpenConnection) => ({
  authorization: `Bearer ${credentials.apiKey ?? ''}`,
})

const nameOf = (answer: ProviderAnswer): string => {
  const name = answerObject(answer)?.name
  return typeof name === 'string' && /^[a-z_]{1,60}$/.test(name) ? name : `http ${answer.status}`
}

/** Why nothing can be done with this API key. Undefined if something else is wrong. */
const keyError = (answer: ProviderAnswer): string | undefined => {
  const name = nameOf(answer)
  if (name === 'restricted_api_key')
    return 'the API key of Resend may only send: it needs full access'
  if (answer.status === 401 || name === 'invalid_api_key')
    return `Resend does not accept apiKey (${name})`
  return undefined
}

const fetchMail = async (
  { egress, urls }: MailParts,
  connection: OpenConnection,
  { email, from }: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Fetched<FetchedMessage>> => {
  if (!isId(email)) return { kind: 'gone', error: 'the mail has no id' }
  // Otherwise, pictures would be embedded in the HTML.
  const url = `${urls.resend}/emails/receiving/${email}?html_format=cid`
  const called = await callProvider(egress, {
    url,
    headers: authOf(connection),
    signal,
    maxBytes: MOST_MAIL_BYTES,
  })
  if (called.kind === 'forbidden') return { kind: 'gone', error: called.error }
  if (called.kind !== 'answered') return { kind: 'unreachable', error: called.error }
  if (called.status === 404) return { kind: 'gone', error: 'Resend no longer has the mail' }
  if (!isSuccess(called))
    return {
      kind: 'unreachable',
      error: keyError(called) ?? `Resend answered with ${nameOf(called)}`,
    }
  const mail = answerObject(called)
  // The sender named in the post is the one that was checked, so the answer must not go to anybody
  // else.
  if (mail && senderOf(mail) !== from)
    return { kind: 'gone', error: 'the mail has another sender than the post that told of it' }
  if (mail) return { kind: 'fetched', value: await fetchedOf(email, mail) }
  const isTooLong = called.body.length >= MOST_MAIL_BYTES / 4
  return isTooLong
    ? { kind: 'gone', error: 'the mail is too long' }
    : { kind: 'unreachable', error: 'the answer of Resend broke off' }
}

const senderOf = ({ from }: Record<string, unknown>): string | null =>
  typeof from === 'string' ? (mailboxOf(from)?.address ?? null) : null

const fetchedOf = async (email: string, mail: Record<string, unknown>): Promise<FetchedMessage> => {
  const headers = headersOf(mail.headers)
  const subject = mailSubject(mail.subject)
  const thread = mailThread(
    headers,
    typeof mail.message_id === 'string' ? mail.message_id.slice(0, 1_000) : undefined,
  )
  const { text, html } = mail
  const hasText = typeof text === 'string' && text.trim() !== ''
  const words = hasText
    ? wordsOfText(text, subject)
    : await wordsOfHtml(typeof html === 'string' ? html : '', subject)
  const sender = senderOf(mail)
  return {
    text: words,
    attachments: attachmentsOf(email, mail.attachments),
    isAutomatic: isAutomatic(headers),
    thread: threadName(thread, `email:${email}`),
    ...(sender === null ? {} : { replyTo: replyToOf(sender, subject, thread) }),
  }
}

interface Domain {
  name?: unknown
  status?: unknown
  capabilities?: unknown
}

const domainError = (domain: Domain | undefined, name: string): string | undefined => {
  if (!domain) return `${name} is not a domain of this account of Resend`
  if (domain.status !== 'verified') return `Resend has not verified ${name}: set its DNS records`
  const isDeaf = isObject(domain.capabilities) && domain.capabilities.receiving === 'disabled'
  return isDeaf ? `receiving is not enabled for ${name} at Resend` : undefined
}

/** Asks for one page of domains after another until ours is found. */
const check = async (
  { egress, urls }: MailParts,
  connection: OpenConnection,
  signal: AbortSignal,
): Promise<CredentialCheck> => {
  const { credentials, routingKey } = connection
  if (!credentials.apiKey) return { kind: 'refused', error: 'credentials.apiKey is missing' }
  if (!isResendSecret(credentials.signingSecret ?? ''))
    return { kind: 'refused', error: 'credentials.signingSecret must begin with whsec_' }
  const name = domainOf(routingKey)
  let after = ''
  for (let page = 0; page < MOST_PAGES; page++) {
    const called = await callProvider(egress, {
      url: `${urls.resend}/domains?limit=100${after}`,
      headers: authOf(connection),
      signal,
    })
    if (called.kind === 'forbidden') return { kind: 'refused', error: called.error }
    if (called.kind !== 'answered') return { kind: 'unreachable', error: called.error }
    const refusal = keyError(called)
    if (refusal !== undefined) return { kind: 'refused', error: refusal }
    const list = isSuccess(called) ? answerObject(called) : undefined
    if (!list) return { kind: 'unreachable', error: `Resend answered with ${nameOf(called)}` }
    const domains = objectList(list.data)
    const found = domains.find((domain) => domain.name === name)
    const last = domains.at(-1)?.id
    if (found || list.has_more !== true || typeof last !== 'string') {
      const error = domainError(found, name)
      return error === undefined ? { kind: 'proven' } : { kind: 'refused', error }
    }
    after = `&after=${encodeURIComponent(last)}`
  }
  return {
    kind: 'refused',
    error: `${name} is not among the first domains of this account of Resend`,
  }
}

/** Errors that every further mail would get as well. */
const OF_CONNECTION = new Set([
  'invalid_api_key',
  'missing_api_key',
  'restricted_api_key',
  'invalid_from_address',
  'invalid_access',
])
/** An earlier request had the same key, and either was sent or is being sent. */
const REPEATED = new Set(['invalid_idempotent_request', 'concurrent_idempotent_requests'])
const QUOTA_MS = 3_600_000

const sentOf = (answer: ProviderAnswer): SendResult => {
  const name = nameOf(answer)
  if (isSuccess(answer)) {
    const id = answerObject(answer)?.id
    return { kind: 'sent', externalId: typeof id === 'string' ? id.slice(0, 100) : null }
  }
  if (answer.status === 429) {
    const isQuota = name.endsWith('quota_exceeded')
    const wait = isQuota ? { retryAfterMs: QUOTA_MS } : waitOf(answer)
    return {
      kind: 'unsent',
      error: isQuota
        ? `the quota of Resend is used up (${name})`
        : 'Resend takes no more mails at the moment',
      ...wait,
    }
  }
  if (REPEATED.has(name)) return { kind: 'unknown', error: `Resend had this mail before (${name})` }
  if (answer.status >= 400 && answer.status < 500) {
    // 403 with another name: the domain is not verified, or the account may only write to itself.
    const isOfConnection = OF_CONNECTION.has(name) || answer.status === 401 || answer.status === 403
    return {
      kind: 'refused',
      error: keyError(answer) ?? `Resend refused the mail (${name})`,
      of: isOfConnection ? 'connection' : 'message',
    }
  }
  return { kind: 'unknown', error: `Resend answered with ${name}` }
}

const send = async (
  { egress, urls }: MailParts,
  connection: OpenConnection,
  message: Outgoing,
  signal: AbortSignal,
): Promise<SendResult> => {
  const mail = mailToSend(connection, message)
  if (!mail) return { kind: 'refused', error: 'the message has no recipient', of: 'message' }
  const headers = {
    ...authOf(connection),
    'content-type': 'application/json',
    'idempotency-key': `tendril-${message.id}`.slice(0, 256),
  }
  const called = await callProvider(egress, {
    url: `${urls.resend}/emails`,
    headers,
    body: JSON.stringify({ ...mail, to: [mail.to] }),
    signal,
  })
  return called.kind === 'answered' ? sentOf(called) : failUnanswered(called)
}

/** Resend gives an address for the bytes that is valid for an hour and needs no credentials. */
const download = async (
  { egress, urls }: MailParts,
  connection: OpenConnection,
  { email, attachment }: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Fetched<Uint8Array>> => {
  if (!isId(email) || !isId(attachment)) return { kind: 'gone', error: 'the attachment has no id' }
  const url = `${urls.resend}/emails/receiving/${email}/attachments/${attachment}`
  const called = await callProvider(egress, { url, headers: authOf(connection), signal })
  if (called.kind === 'forbidden') return { kind: 'gone', error: called.error }
  if (called.kind !== 'answered') return { kind: 'unreachable', error: called.error }
  if (called.status === 404) return { kind: 'gone', error: 'Resend no longer has the attachment' }
  const address = isSuccess(called) ? answerObject(called)?.download_url : undefined
  if (typeof address !== 'string')
    return { kind: 'unreachable', error: `Resend answered with ${nameOf(called)}` }
  return downloadFrom(egress, { url: address, headers: {} }, signal)
}

export const resendMail = (parts: MailParts): MailProvider => ({
  recipients,
  verify,
  read,
  check: (connection, signal) => check(parts, connection, signal),
  send: (connection, message, signal) => send(parts, connection, message, signal),
  fetch: (connection, toFetch, signal) => fetchMail(parts, connection, toFetch, signal),
  download: (connection, ref, signal) => download(parts, connection, ref, signal),
  repeatableForMs: () => REPEATABLE_MS,
})
