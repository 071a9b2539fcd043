/** Webhooks on the wire: signed as Standard Webhooks 1.0, sent through the egress client, with the response as a `DeliveryOutcome`. */
import { createHmac, randomBytes } from 'node:crypto'
import type { DeliveryOutcome } from '#domain/app/webhook'
import type { Egress, EgressResponse } from './egress/egress.ts'
import { EgressRefused } from './egress/target.ts'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32
/** Response bodies are not stored. */
const MOST_BYTES = 16_384
const GONE = 410
/** Statuses whose Retry-After is honoured. */
const ASKS_TO_WAIT = [429, 503]
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/** `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')

export interface Message {
  /** The same on every try, so receivers can recognise an event. */
  id: string
  /** The time of this try. */
  at: Date
  body: string
}

const signature = (secret: string, signed: string): string => {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

/**
 * HMAC-SHA256 over `{id}.{timestamp in seconds}.{body}`, with a signature for each valid secret. Our API document's header,
 * X-Webhook-Signature, has the same value as the standard's.
 */
export const signedHeaders = ({ id, at, body }: Message, secrets: string[]): Record<string, string> => {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const signatures = secrets.map((secret) => signature(secret, `${id}.${timestamp}.${body}`)).join(' ')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures, 'x-webhook-signature': signatures }
}

/** Milliseconds from a Retry-After header, given in seconds or as an HTTP date. */
export const retryAfterMs = (value: string | string[] | undefined, now: number): number | undefined => {
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

/** Never the text of a foreign error, only codes and our own words. */
const failureOutcome = (cause: unknown): DeliveryOutcome => {
  if (cause instanceof EgressRefused) return { kind: 'failed', reason: `refused: ${cause.message}` }
  if (cause instanceof Error && cause.name === 'TimeoutError') return { kind: 'failed', reason: 'timeout' }
  const { code } = cause as { code?: unknown }
  return { kind: 'failed', reason: typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : 'the connection failed' }
}

export interface WebhookDelivery {
  url: string
  message: Message
  /** Newest first. */
  secrets: string[]
  deadlineMs: number
}

/** Makes one try. Never throws; `stopped` if the signal aborted it. */
export const deliver = async (egress: Egress, delivery: WebhookDelivery, signal: AbortSignal): Promise<DeliveryOutcome> => {
  const { url, message, secrets, deadlineMs } = delivery
  const headers = { 'content-type': 'application/json', 'user-agent': 'Tendril-Webhooks/1', ...signedHeaders(message, secrets) }
  try {
    const request = { url, method: 'POST' as const, headers, body: message.body, deadlineMs, maxBytes: MOST_BYTES, signal }
    return responseOutcome(await egress.send(request))
  } catch (cause) {
    return signal.aborted ? { kind: 'stopped' } : failureOutcome(cause)
  }
}
