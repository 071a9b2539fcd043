/** Requests to providers that speak JSON, and what their answers mean. */
import { isObject } from '#kernel/json-value'
import { type Called, callOnce } from '#port/egress/call'
import type { Egress } from '../egress/egress.ts'
import { retryAfterMs } from '../webhook.ts'
import type { SendResult } from './channel.ts'

export type ProviderAnswer = Extract<Called, { kind: 'answered' }>

interface Asked {
  url: string
  headers: Record<string, string>
  signal: AbortSignal
  /** If there is a body, the request is a POST. */
  body?: string
  /** The most bytes of the answer that are read. 256 KiB by default. */
  maxBytes?: number
}

const DEADLINE_MS = 30_000
const MOST_BYTES = 262_144
/** A provider cannot make anybody wait longer than this. */
const LONGEST_WAIT_MS = 3_600_000

/** Never throws. */
export const callProvider = (
  egress: Egress,
  { url, headers, signal, body, maxBytes = MOST_BYTES }: Asked,
): Promise<Called> =>
  callOnce(egress, {
    url,
    signal,
    maxBytes,
    deadlineMs: DEADLINE_MS,
    method: body === undefined ? 'GET' : 'POST',
    headers: { accept: 'application/json', 'user-agent': 'Tendril-Channels/1', ...headers },
    body: body ?? '',
  })

/** The object in an answer. Undefined if there is none, or if part of the answer is missing. */
export const answerObject = ({
  body,
  isComplete,
}: ProviderAnswer): Record<string, unknown> | undefined => {
  if (!isComplete) return undefined
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const isSuccess = ({ status }: ProviderAnswer): boolean => status >= 200 && status < 300

/** How long the provider asks us to wait, if it asks. */
export const waitOf = ({ headers }: ProviderAnswer): { retryAfterMs?: number } => {
  const ms = retryAfterMs(headers['retry-after'], Date.now())
  return ms === undefined ? {} : { retryAfterMs: Math.min(ms, LONGEST_WAIT_MS) }
}

/** What happened to a message that was not sent, or not surely. */
export type Unsent = Exclude<SendResult, { kind: 'sent' }>

/** The result for a message about which the provider said nothing. */
export const failUnanswered = (called: Exclude<Called, ProviderAnswer>): Unsent =>
  called.kind === 'forbidden' ? { kind: 'refused', error: called.error, of: 'connection' } : called

export const basicAuth = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
