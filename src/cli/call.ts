/** Sends operations as requests, and turns answers into values or failures. */
import { bodyFrom, KEY_LIMIT, type NamedOp, pathParams, readsOnly, takesKey } from '#contract/op'
import type { Conflict } from '#kernel/conflict'
import { type ErrorCode, type ErrorDetail, errorTable } from '#kernel/errors'
import { version } from '../../package.json'
import { Failure, misuse } from './failure.ts'
import type { Host } from './host.ts'
import { retry, retryDelayMs, type TryResult } from './retry.ts'
import type { Ask, Reply, Transport } from './transport.ts'

type Input = Record<string, unknown>

export const commonHeaders = {
  accept: 'application/json',
  'user-agent': `tendril-cli/${version}`,
  'x-tendril-surface': 'cli',
}

export interface Credential {
  /** An API key or session token; undefined if none is needed. */
  token: string | undefined
  idempotencyKey?: string
}

const queryOf = (entries: [string, unknown][]): string => {
  const query = new URLSearchParams()
  for (const [name, value] of entries)
    for (const one of Array.isArray(value) ? value : [value])
      query.append(name, typeof one === 'object' ? JSON.stringify(one) : String(one))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/**
 * Keys that are valid in a header: no control characters, and no outer spaces, which HTTP drops.
 * The length is counted in code points.
 */
const SENDABLE = new RegExp(`^(?!\\s)[^\\p{Cc}\\p{Cs}]{1,${KEY_LIMIT}}(?<!\\s)$`, 'u')
/** Encodes text as UTF-8 for Node, which writes each character of a header as one byte. */
const asHeader = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/**
 * The Idempotency-Key of a call, which all its tries share. Undefined for operations that do not
 * take one.
 */
export const idempotencyKeyFor = async (
  o: NamedOp,
  ownKey?: string,
): Promise<string | undefined> => {
  if (!takesKey(o)) return undefined
  if (ownKey !== undefined && !SENDABLE.test(ownKey))
    return misuse(
      `--idempotency-key must have 1 to ${KEY_LIMIT} characters, without control characters or leading or trailing spaces`,
    )
  return ownKey ?? (await import('node:crypto')).randomUUID()
}

export const askOf = (o: NamedOp, input: Input, { token, idempotencyKey }: Credential): Ask => {
  const inPath = pathParams(o.path)
  const path = o.path.replaceAll(/:([a-z_]+)/gi, (_, name: string) =>
    encodeURIComponent(String(input[name])),
  )
  const headers: Record<string, string> = {
    ...commonHeaders,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  if (readsOnly(o))
    return {
      method: o.method,
      path: path + queryOf(Object.entries(input).filter(([name]) => !inPath.includes(name))),
      headers,
      again: true,
    }
  if (idempotencyKey !== undefined) headers['idempotency-key'] = asHeader(idempotencyKey)
  const again = idempotencyKey !== undefined || o.repeatable === true
  const body = bodyFrom(o, input)
  if (body === undefined) return { method: o.method, path, headers, again }
  headers['content-type'] = 'application/json'
  return { method: o.method, path, headers, again, body: JSON.stringify(body) }
}

interface Envelope extends Partial<Conflict> {
  code: string
  message: string
  details?: ErrorDetail[]
  request_id?: string
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const envelopeOf = (body: unknown): Envelope | undefined => {
  const error = (body as { error?: Partial<Envelope> } | undefined)?.error
  return typeof error?.code === 'string' && typeof error.message === 'string'
    ? (error as Envelope)
    : undefined
}

/** An error code for an answer that is not Tendril's, such as a proxy's. */
export const codeByStatus = (status: number): ErrorCode => {
  const fitting: Record<number, ErrorCode> = {
    401: 'unauthenticated',
    403: 'forbidden',
    404: 'not_found',
    429: 'rate_limited',
    503: 'unavailable',
  }
  return fitting[status] ?? 'internal'
}

const conflictIn = ({ reason, by, at, next_free_at }: Envelope): Conflict | undefined =>
  reason && {
    reason,
    ...(by && { by }),
    ...(at !== undefined && { at }),
    ...(next_free_at !== undefined && { next_free_at }),
  }

const failureOf = ({ status, headers, text }: Reply, url: string): Failure => {
  const error = envelopeOf(jsonOf(text))
  if (error) {
    // A newer server may send a code that this program does not know. Its status then determines
    // the exit code.
    const exit = error.code in errorTable ? undefined : errorTable[codeByStatus(status)].exit
    const ms = retryDelayMs(headers['retry-after'])
    const retryAfter = ms === undefined ? undefined : Math.ceil(ms / 1_000)
    return new Failure(error.code, error.message, {
      details: error.details,
      conflict: conflictIn(error),
      requestId: error.request_id,
      exit,
      retryAfter,
    })
  }
  if (status >= 300 && status < 400)
    return new Failure(
      'invalid_input',
      `${url} redirects to ${headers.location ?? 'another URL'}`,
      {
        hint: 'no key was sent there; if it is your deployment, pass its URL without the path as --api-url',
      },
    )
  return new Failure(
    codeByStatus(status),
    `${url} returned ${status}, and not in the format of Tendril`,
    { hint: 'check --api-url' },
  )
}

const adviceFor = (code = ''): string | undefined => {
  if (code === 'ECONNREFUSED') return 'start the server, or pass another URL with --api-url'
  return /CERT|SIGNATURE/.test(code)
    ? 'for a private certificate authority, set NODE_EXTRA_CA_CERTS to its certificate file'
    : undefined
}

const unreachable = (cause: unknown, url: string): Failure => {
  if (cause instanceof Failure) return cause
  const { code, message } = cause as { code?: string; message?: string }
  return new Failure(
    'unavailable',
    `no response from ${url}: ${code ?? message ?? 'the connection failed'}`,
    { hint: adviceFor(code) },
  )
}

const replyOf = (outcome: TryResult, url: string): Reply => {
  if ('reply' in outcome) return outcome.reply
  throw unreachable(outcome.cause, url)
}

export interface ApiResponse {
  status: number
  body: Input
}

/**
 * The error in the last line of an incomplete download, as JSON or as the only cell of a CSV line.
 */
const brokenOff = (tail: string): Envelope | undefined => {
  const last = tail.trimEnd().split('\n').at(-1) ?? ''
  const cell = /^"(.*)"$/s.exec(last)?.[1]?.replaceAll('""', '"')
  return envelopeOf(jsonOf(cell ?? last))
}

/** Passes a download on as it arrives. Throws a `Failure`, perhaps after part of it. */
export const passTo = async (
  transport: Transport,
  ask: Ask,
  host: Host,
  sink: NonNullable<Ask['sink']>,
): Promise<Reply> => {
  const reply = replyOf(
    await retry(host, () => transport.exchange({ ...ask, sink }), ask),
    transport.url,
  )
  if (reply.status !== 200) throw failureOf(reply, transport.url)
  return reply
}

/**
 * Writes a download of lines to standard output. Throws a `Failure`, perhaps after part of the
 * output.
 */
export const downloadTo = async (transport: Transport, ask: Ask, host: Host): Promise<void> => {
  const reply = await passTo(transport, ask, host, (bytes) => host.stdout.pass(bytes))
  const error = brokenOff(reply.text)
  if (error)
    throw new Failure(error.code, `the file is incomplete: ${error.message}`, {
      requestId: error.request_id,
    })
}

/** Sends with retries. Throws a `Failure` unless it succeeds. */
export const call = async (transport: Transport, ask: Ask, host: Host): Promise<ApiResponse> => {
  const reply = replyOf(await retry(host, () => transport.exchange(ask), ask), transport.url)
  const body = jsonOf(reply.text)
  const isSuccess = reply.status >= 200 && reply.status < 300
  if (!isSuccess || typeof body !== 'object' || body === null) throw failureOf(reply, transport.url)
  return { status: reply.status, body: body as Input }
}
