/**
 * What all calls to a provider share: the client, the reasons for which a call fails, and the line
 * that it writes to the log.
 */
import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai'
import type { Log } from '#kernel/log'
import { currentTrace, type Tracer } from '#kernel/trace'
import { boundedFetch, type FetchBounds } from './bounded-fetch.ts'

export interface OpenAiConnection {
  apiKey: string
  /** Any server that speaks Chat Completions. The provider's own if undefined. */
  baseUrl: string | undefined
  /** Limit of one call, from the request to the last byte of the answer. */
  timeoutMs: number
  /** Counts calls. Must not throw. */
  called?: ((call: EndedCall) => void) | undefined
  tracer?: Tracer | undefined
}

/** What a call used, as far as the provider said so. `cost_micros`: in millionths of a dollar. */
interface CallUsage {
  input_tokens: number
  output_tokens: number
  cached_tokens?: number
  cost_micros?: number
}

/** A call of a model that has ended. */
export interface EndedCall {
  model: string
  ending: 'answered' | 'failed' | 'aborted'
  usage?: CallUsage | undefined
}

/**
 * Retries are off, because a hidden retry costs money and time. Organisation, project and logging
 * are set here, so that the environment cannot change them.
 */
export const openClient = (
  { apiKey, baseUrl, timeoutMs }: OpenAiConnection,
  bounds: FetchBounds = {},
): OpenAI =>
  new OpenAI({
    apiKey,
    baseURL: baseUrl ?? 'https://api.openai.com/v1',
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: 'off',
    fetch: boundedFetch(bounds),
  })

export type CallFailure =
  | 'rate_limited'
  | 'out_of_credit'
  | 'unauthorized'
  | 'unknown_model'
  | 'unsupported'
  | 'timeout'
  | 'unreachable'
  | 'too_large'
  | 'provider_error'

const BY_STATUS: Partial<Record<number, CallFailure>> = {
  400: 'unsupported',
  401: 'unauthorized',
  402: 'out_of_credit',
  403: 'unauthorized',
  404: 'unknown_model',
  422: 'unsupported',
  429: 'rate_limited',
}

/**
 * The HTTP status of a failed call. An error within a stream has one only if the server repeats it
 * as the error's code.
 */
export const httpStatusOf = (cause: unknown): number | undefined => {
  if (!(cause instanceof APIError)) return undefined
  const code: unknown = cause.code
  return cause.status ?? (typeof code === 'number' ? code : undefined)
}

export const failureOf = (cause: unknown): CallFailure => {
  if (cause instanceof APIConnectionTimeoutError) return 'timeout'
  if (cause instanceof APIConnectionError) return 'unreachable'
  if (cause instanceof APIError && cause.code === 'insufficient_quota') return 'out_of_credit'
  return BY_STATUS[httpStatusOf(cause) ?? 0] ?? 'provider_error'
}

/** The provider's id of the request. */
const requestOf = (cause: unknown) =>
  cause instanceof APIError && cause.requestID ? { provider_request: cause.requestID } : {}

interface Logged extends Pick<OpenAiConnection, 'called' | 'tracer'> {
  log: Log
  model: string
  errorOf(cause: unknown): unknown
}

/**
 * Runs a call, counts it, and logs and traces how it went. `errorOf` turns what it threw into what
 * the caller gets.
 */
export const logCall = async <R extends { usage: CallUsage | undefined }>(
  { log, model, errorOf, called, tracer }: Logged,
  call: () => Promise<R>,
): Promise<R> => {
  const started = performance.now()
  const ms = () => Math.round(performance.now() - started)
  const parent = tracer && currentTrace()
  const span = tracer?.begin({ name: 'model call', kind: 'client', parent, facts: { model } })
  try {
    const result = await call()
    called?.({ model, ending: 'answered', usage: result.usage })
    const { input_tokens: inputTokens, output_tokens: outputTokens } = result.usage ?? {}
    span?.end('answered', { inputTokens, outputTokens })
    log.info({ model, ms: ms(), ...result.usage }, 'model call')
    return result
  } catch (cause) {
    const error = errorOf(cause)
    const hasFailed = error instanceof Error && 'failure' in error
    const ending = hasFailed ? 'failed' : 'aborted'
    called?.({ model, ending })
    span?.end(ending, { status: httpStatusOf(cause), isFailure: hasFailed })
    const failure = hasFailed
      ? { failure: error.failure, status: httpStatusOf(cause), ...requestOf(cause) }
      : { failure: 'aborted' }
    log.warn({ model, ms: ms(), ...failure }, 'model call failed')
    throw error
  }
}
