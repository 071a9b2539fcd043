/**
 * Webhooks on the wire: signed as Standard Webhooks 1.0, sent through the egress client, with the
 * response as a `DeliveryOutcome`.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { DeliveryOutcome } from '#domain/app/webhook'
import type { Egress, EgressResponse } from './egress/egress.ts'
import { EgressRefused } from './egress/target.ts'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32
const LEAST_SECRET_BYTES = 16
/** Response bodies are not stored. */
const MOST_BYTES = 16_384
const GONE = 410
/** Statuses whose Retry-After is honoured. */
const ASKS_TO_WAIT = [429, 503]
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/** `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = (): string =>
  SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')

export interface WebhookMessage {
  /** The same on every try, so receivers can recognise an event. */
  id: string
  /** The time of this try. */
  at: Date
  body: string
}

/** Secrets that others chose need not have the standard's form. They are used as keys unchanged. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    : Buffer.from(secret)

/** Whether a secret is too random to guess. */
export const isWebhookSecret = (secret: string): boolean =>
  keyOf(secret).length >= LEAST_SECRET_BYTES

/** `body`: the bytes, or a text to be encoded as UTF-8. */
const signature = (secret: string, head: string, body: string | Uint8Array): string =>
  `v1,${createHmac('sha256', keyOf(secret)).update(head).update(body).digest('base64')}`

/** How far the time of a message may be from ours. */
const TOLERANCE_MS = 300_000
/** The most signatures in a header. There is one for each of a few secrets. */
const MOST_SIGNATURES = 8
const LONGEST_ID = 256

/**
 * The id of a message that was sent to us, if its headers and signature are right. The header of
 * our API document is accepted as well as the standard's. A wrong signature takes as long as a
 * right one.
 */
export const verifiedId = (
  headers: Headers,
  body: Uint8Array,
  { secret, now }: { secret: string; now: number },
): string | undefined => {
  const [id, timestamp] = ['webhook-id', 'webhook-timestamp'].map((name) => headers.get(name) ?? '')
  const sent = headers.get('webhook-signature') ?? headers.get('x-webhook-signature') ?? ''
  const expected = Buffer.from(signature(secret, `${id}.${timestamp}.`, body))
  const isSigned = sent.split(' ', MOST_SIGNATURES).map((one) => {
    const given = Buffer.from(one)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  const isTimely =
    /^\d{1,12}$/.test(timestamp!) && Math.abs(Number(timestamp) * 1_000 - now) <= TOLERANCE_MS
  return isSigned.includes(true) && isTimely && id !== '' && id!.length <= LONGEST_ID
    ? id
    : undefined
}

/**
 * HMAC-SHA256 over `{id}.{timestamp in seconds}.{body}`, with a signature for each valid secret.
 * Our API document's header, X-Webhook-Signature, has the same value as the standard's.
 */
export const signedHeaders = (
  { id, at, body }: WebhookMessage,
  secrets: string[],
): Record<string, string> => {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const signatures = secrets
    .map((secret) => signature(secret, `${id}.${timestamp}.`, body))
    .join(' ')
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures,
    'x-webhook-signature': signatures,
  }
}

/** Milliseconds from a Retry-After header, given in seconds or as an HTTP date. */
export const retryAfterMs = (
  value: string | string[] | undefined,
  now: number,
): number | undefined => {
  if (typeof value !== 'string') return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000
  const date = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const responseOutcome = ({ status, headers }: EgressResponse): DeliveryOutcome => {
  if (status >= 200 && status < 300) return { kind: 'accepted' }
  if (status === GONE) return { kind: 'gone' }
  const reason = `http ${status}`
  return ASKS_TO_WAIT.includes(status)
    ? { kind: 'failed', reason, retryAfterMs: retryAfterMs(headers['retry-after'], Date.now()) }
    : { kind: 'failed', reason }
}

/** Contains only codes and our own words, never the text of a foreign error. */
const failureOutcome = (cause: unknown): DeliveryOutcome => {
  if (cause instanceof EgressRefused) return { kind: 'failed', reason: `refused: ${cause.message}` }
  if (cause instanceof Error && cause.name === 'TimeoutError')
    return { kind: 'failed', reason: 'timeout' }
  const { code } = cause as { code?: unknown }
  return {
    kind: 'failed',
    reason:
      typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : 'the connection failed',
  }
}

export interface WebhookDelivery {
  url: string
  message: WebhookMessage
  /** Newest first. */
  secrets: string[]
  deadlineMs: number
}

/** Makes one try. Never throws. The result is `stopped` if the signal aborted it. */
export const deliver = async (
  egress: Egress,
  delivery: WebhookDelivery,
  signal: AbortSignal,
): Promise<DeliveryOutcome> => {
  const { url, message, secrets, deadlineMs } = delivery
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Tendril-Webhooks/1',
    ...signedHeaders(message, secrets),
  }
  try {
    const request = {
      url,
      method: 'POST' as const,
      headers,
      body: message.body,
      deadlineMs,
      maxBytes: MOST_BYTES,
      signal,
    }
    return responseOutcome(await egress.send(request))
  } catch (cause) {
    return signal.aborted ? { kind: 'stopped' } : failureOutcome(cause)
  }
}
