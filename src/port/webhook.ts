/** Webhooks on the wire: signed as Standard Webhooks 1.0 asks, sent through the egress client, the answer put into our words. */
import { createHmac, randomBytes } from 'node:crypto'
import type { DeliveryOutcome } from '#domain/app/webhook'
import type { Egress, EgressResponse } from './egress/egress.ts'
import { EgressRefused } from './egress/target.ts'

const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32
/** Nothing that a receiver says is kept. */
const MOST_BYTES = 16_384
const GONE = 410
/** Answers whose Retry-After is honoured. */
const ASKS_TO_WAIT = [429, 503]
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/** `whsec_` and base64 of 32 random bytes. */
export const newWebhookSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')

export interface Message {
  /** The same on every try: by it a receiver knows an event again. */
  id: string
  /** When this try is made. */
  at: Date
  body: string
}

const signature = (secret: string, signed: string): string => {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

/**
 * HMAC-SHA256 over `{id}.{timestamp in seconds}.{body}`, one signature for each valid secret. The header that our API
 * document names, X-Webhook-Signature, says the same as the standard's own.
 */
export const signedHeaders = ({ id, at, body }: Message, secrets: string[]): Record<string, string> => {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const signatures = secrets.map((secret) => signature(secret, `${id}.${timestamp}.${body}`)).join(' ')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures, 'x-webhook-signature': signatures }
}

/** Milliseconds from a Retry-After header: seconds, or a date in the words of HTTP. */
export const retryAfterMs = (value: string | string[] | undefined, now: number): number | undefined => {
  if (typeof value !== 'string') return undefined
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1_000
  const date = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const ofAnswer = ({ status, headers }: EgressResponse): DeliveryOutcome => {
  if (status >= 200 && status < 300) return { kind: 'accepted' }
  if (status === GONE) return { kind: 'gone' }
  const reason = `http ${status}`
  return ASKS_TO_WAIT.includes(status)
    ? { kind: 'failed', reason, retryAfterMs: retryAfterMs(headers['retry-after'], Date.now()) }
    : { kind: 'failed', reason }
}

/** Never the text of somebody else's error: codes and our own words. */
const ofFailure = (cause: unknown): DeliveryOutcome => {
  if (cause instanceof EgressRefused) return { kind: 'failed', reason: `refused: ${cause.message}` }
  if (cause instanceof Error && cause.name === 'TimeoutError') return { kind: 'failed', reason: 'timeout' }
  const { code } = cause as { code?: unknown }
  return { kind: 'failed', reason: typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code : 'the connection failed' }
}

export interface WebhookDelivery {
  url: string
  message: Message
  /** The newest first. */
  secrets: string[]
  deadlineMs: number
}

/** One try. Never throws; `stopped` when the signal ended it. */
export const deliver = async (egress: Egress, delivery: WebhookDelivery, signal: AbortSignal): Promise<DeliveryOutcome> => {
  const { url, message, secrets, deadlineMs } = delivery
  const headers = { 'content-type': 'application/json', 'user-agent': 'Tendril-Webhooks/1', ...signedHeaders(message, secrets) }
  try {
    const request = { url, method: 'POST' as const, headers, body: message.body, deadlineMs, maxBytes: MOST_BYTES, signal }
    return ofAnswer(await egress.send(request))
  } catch (cause) {
    return signal.aborted ? { kind: 'stopped' } : ofFailure(cause)
  }
}
