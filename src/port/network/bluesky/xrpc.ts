/** Requests to servers of the AT Protocol, each made once, and what is certain afterwards. */
import { beginning, storable } from '#kernel/storable'
import { replaceUnseen } from '#kernel/unseen'
import type { Called } from '#port/egress/call'
import type { Egress } from '#port/egress/egress'
import { type JsonObject, parseObject } from '#port/fields'
import { retryAfterMs } from '#port/webhook'
import { type BlueskyCredentials, isOauth } from './credentials.ts'
import { sendProved } from './oauth/dpop.ts'
import { MOST_ANSWER_BYTES, type SentOnce, sendOnce } from './request.ts'

export type XrpcAnswer =
  | { kind: 'ok'; value: JsonObject }
  /** Not a success. `error` is null unless the answer has the protocol's form and came whole. */
  | {
      kind: 'failed'
      status: number
      isComplete: boolean
      error: { name: string; message: string } | null
      /** How long the server asks us to wait. */
      waitMs: number | undefined
    }
  /** Nothing was sent. `isForbidden`: our own rules forbid the address. */
  | { kind: 'unsent'; words: string; isForbidden: boolean }
  /** The request may have arrived. */
  | { kind: 'silent'; words: string }

export type XrpcFailure = Exclude<XrpcAnswer, { kind: 'ok' }>

export interface XrpcCall {
  /** The origin of the server. */
  at: string
  /** Such as `com.atproto.repo.getRecord`. */
  method: string
  query?: Record<string, string | string[]>
  /** If there is a body, or `post`, the request is a POST. */
  body?: object
  post?: boolean
  /** A token that stands for itself. */
  token?: string
  /** In whose session it is asked. */
  session?: BlueskyCredentials
  maxBytes?: number
}

/** A hundred records, each with the alternative texts of its pictures. */
export const MOST_PAGE_BYTES = 4 * MOST_ANSWER_BYTES
const LONGEST_WORDS = 200
/** No server can make anybody wait longer than this: the limits of a day end within it. */
const LONGEST_WAIT_MS = 86_400_000
const ERROR_NAME = /^[A-Za-z][A-Za-z0-9_]{0,79}$/

/** A server's words for people, without characters that hide or break text. */
export const plainWords = (text: string, most = LONGEST_WORDS): string =>
  beginning(
    storable(replaceUnseen(beginning(text, 2_000), () => ' '))
      .replaceAll(/\s+/g, ' ')
      .trim(),
    most,
  )

const errorIn = (value: JsonObject | undefined): { name: string; message: string } | null => {
  const { error: name, message } = value ?? {}
  if (typeof name !== 'string' || !ERROR_NAME.test(name)) return null
  return { name, message: typeof message === 'string' ? plainWords(message) : '' }
}

type Headers = Extract<Called, { kind: 'answered' }>['headers']

const waitIn = (headers: Headers, now: number): number | undefined => {
  const reset = headers['ratelimit-reset']
  const ms =
    typeof reset === 'string' && /^\d{1,12}$/.test(reset)
      ? Math.max(0, Number(reset) * 1_000 - now)
      : retryAfterMs(headers['retry-after'], now)
  return ms === undefined ? undefined : Math.min(ms, LONGEST_WAIT_MS)
}

const OK = [200]

/** What an answer in JSON says. `done`: the statuses of a success. */
export const readAnswer = (called: Called, done: readonly number[] = OK): XrpcAnswer => {
  if (called.kind === 'unknown') return { kind: 'silent', words: called.error }
  if (called.kind !== 'answered')
    return { kind: 'unsent', words: called.error, isForbidden: called.kind === 'forbidden' }
  const { status, headers, body, isComplete } = called
  const value = isComplete ? parseObject(body) : undefined
  if (done.includes(status) && value) return { kind: 'ok', value }
  const waitMs = waitIn(headers, Date.now())
  return { kind: 'failed', status, isComplete, error: errorIn(value), waitMs }
}

const searchOf = (query: NonNullable<XrpcCall['query']>): string =>
  String(
    new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) =>
        [value].flat().map((one): [string, string] => [name, one]),
      ),
    ),
  )

/** With proof that the session is ours, where it asks for that. */
const sendAs = (
  egress: Egress,
  { session, sent }: { session: BlueskyCredentials | undefined; sent: SentOnce },
  signal: AbortSignal,
): Promise<Called> => {
  if (!session) return sendOnce(egress, sent, signal)
  if (isOauth(session)) return sendProved(egress, { ...session, sent }, signal)
  const headers = { ...sent.headers, authorization: `Bearer ${session.access}` }
  return sendOnce(egress, { ...sent, headers }, signal)
}

/** Never throws. */
export const callXrpc = async (
  egress: Egress,
  { at, method, query = {}, body, post = false, token, session, maxBytes }: XrpcCall,
  signal: AbortSignal,
): Promise<XrpcAnswer> => {
  const search = searchOf(query)
  const sent: SentOnce = {
    url: `${at}/xrpc/${method}${search && `?${search}`}`,
    method: body || post ? 'POST' : 'GET',
    headers: {
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    maxBytes,
  }
  return readAnswer(await sendAs(egress, { session, sent }, signal))
}

/** A document at a plain address. Never throws. */
export const getDocument = async (
  egress: Egress,
  url: string,
  signal: AbortSignal,
): Promise<XrpcAnswer | { kind: 'text'; text: string }> => {
  const called = await sendOnce(egress, { url, method: 'GET' }, signal)
  const answer = readAnswer(called)
  const isText = called.kind === 'answered' && called.status === 200 && called.isComplete
  return isText && answer.kind !== 'ok' ? { kind: 'text', text: called.body } : answer
}
