/** What the answers of a server mean, by the name of their error. */
import { NetworkError, type PublishResult } from '../network.ts'
import type { XrpcFailure } from './xrpc.ts'

export type Meaning =
  /** The access token is used up: the session can be renewed. */
  | 'session_over'
  /** Taken down, suspended or deactivated. */
  | 'account_off'
  | 'no_access'
  | 'rate_limited'
  /** Something else stands under the key. */
  | 'taken'
  | 'absent'
  | 'refused'
  | 'server_error'
  | 'no_answer'
  | 'unclear_answer'
  | 'unreachable'

/** Every error of the lexicons in use, and those that servers themselves answer with. */
export const meanings: Readonly<Record<string, Meaning>> = {
  ExpiredToken: 'session_over',
  InvalidToken: 'session_over',
  // Of sessions by OAuth.
  invalid_token: 'session_over',
  // Asked for twice in a row, which proves that nothing was done.
  use_dpop_nonce: 'unreachable',
  AccountTakedown: 'account_off',
  AccountSuspended: 'account_off',
  AccountDeactivated: 'account_off',
  RepoTakendown: 'account_off',
  RepoSuspended: 'account_off',
  RepoDeactivated: 'account_off',
  AuthenticationRequired: 'no_access',
  AuthMissing: 'no_access',
  AuthFactorTokenRequired: 'no_access',
  Forbidden: 'no_access',
  AccountNotFound: 'no_access',
  RateLimitExceeded: 'rate_limited',
  InvalidSwap: 'taken',
  RecordNotFound: 'absent',
  RepoNotFound: 'absent',
  HandleNotFound: 'absent',
  DidNotFound: 'absent',
  BlockedActor: 'refused',
  BlockedByActor: 'refused',
  InvalidRequest: 'refused',
  NotAcceptable: 'refused',
  PayloadTooLarge: 'refused',
  UnsupportedMediaType: 'refused',
  XRPCNotSupported: 'refused',
  MethodNotImplemented: 'refused',
  InternalServerError: 'server_error',
  UpstreamFailure: 'server_error',
  NotEnoughResources: 'server_error',
  UpstreamTimeout: 'no_answer',
}

const [UNAUTHORIZED, FORBIDDEN, TOO_MANY, SERVER, GATEWAY_TIMEOUT] = [401, 403, 429, 500, 504]

/**
 * What is certain after an answer. A 5xx proves nothing, whatever its error is called; an unknown
 * 4xx in the protocol's form is a refusal.
 */
export const meaningOf = (answer: XrpcFailure): Meaning => {
  if (answer.kind === 'unsent') return 'unreachable'
  if (answer.kind === 'silent') return 'no_answer'
  const { status, isComplete, error } = answer
  if (status === TOO_MANY) return 'rate_limited'
  if (status === GATEWAY_TIMEOUT) return 'no_answer'
  if (status >= SERVER) return isComplete ? 'server_error' : 'no_answer'
  if (!isComplete) return 'no_answer'
  if (!error || status < 400) return 'unclear_answer'
  const known = Object.hasOwn(meanings, error.name) ? meanings[error.name] : undefined
  return known ?? (status === UNAUTHORIZED || status === FORBIDDEN ? 'no_access' : 'refused')
}

/** For people: what was answered, or why nothing was. */
export const failureWords = (answer: XrpcFailure): string => {
  if (answer.kind !== 'failed') return answer.words
  const { status, isComplete, error } = answer
  if (error) return error.message === '' ? error.name : `${error.name}: ${error.message}`
  return isComplete
    ? `an answer that is not of the protocol (http ${status})`
    : `an answer that broke off or was too long (http ${status})`
}

/** How the lexicons name the states of an account that cannot be used. */
const STATES = ['takendown', 'takedown', 'suspended', 'deactivated', 'deleted', 'desynchronized']

/** In words of ours: what a server says of an account is shown as the workspace's own. */
export const offWords = (told: string): string => {
  const state = STATES.find((one) => told.toLowerCase().endsWith(one))
  if (state === undefined) return 'the account is not active'
  return `the account is ${/^take/.test(state) ? 'taken down' : state}`
}

const SESSION_OVER = 'the session has ended and is being renewed'
const RENEWAL_MS = 5_000

const waitOf = (answer: XrpcFailure): { retryAfterMs?: number } =>
  answer.kind === 'failed' && answer.waitMs !== undefined ? { retryAfterMs: answer.waitMs } : {}

/** What a request that writes has come to. */
export const writeResult = (answer: XrpcFailure): PublishResult => {
  const [meaning, words] = [meaningOf(answer), failureWords(answer)]
  switch (meaning) {
    case 'session_over':
      return {
        kind: 'not_applied',
        reason: 'unreachable',
        detail: SESSION_OVER,
        retryAfterMs: RENEWAL_MS,
        isSessionOver: true,
      }
    case 'account_off':
      return { kind: 'disconnected', reason: words, isSuspended: true }
    case 'no_access':
      return { kind: 'disconnected', reason: words }
    case 'unreachable':
    case 'rate_limited':
      return { kind: 'not_applied', reason: meaning, detail: words, ...waitOf(answer) }
    case 'absent':
    case 'refused':
      return { kind: 'refused', reason: words }
    case 'taken':
      return { kind: 'unknown', reason: words, cause: 'unclear_answer' }
    default:
      return { kind: 'unknown', reason: words, cause: meaning }
  }
}

/** What a failed read is thrown as. */
export const readError = (answer: XrpcFailure): NetworkError => {
  const [meaning, words] = [meaningOf(answer), failureWords(answer)]
  switch (meaning) {
    case 'session_over':
      return new NetworkError('unreachable', SESSION_OVER, RENEWAL_MS, true)
    case 'account_off':
    case 'no_access':
      return new NetworkError('disconnected', words)
    case 'rate_limited':
      return new NetworkError('rate_limited', words, waitOf(answer).retryAfterMs)
    case 'unreachable':
    case 'server_error':
    case 'no_answer':
      return new NetworkError('unreachable', words, waitOf(answer).retryAfterMs)
    default:
      return new NetworkError('bad_answer', words)
  }
}

/** What nothing was sent for becomes, if a read before it failed. */
export const unsentResult = (error: NetworkError): PublishResult => {
  const { reason, message: detail, retryAfterMs, isSessionOver } = error
  return {
    kind: 'not_applied',
    reason: reason === 'rate_limited' ? reason : 'unreachable',
    detail,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(isSessionOver ? { isSessionOver } : {}),
  }
}

/** What a renewal has come to that proves nothing. */
export const unanswered = (
  answer: XrpcFailure,
): { kind: 'unanswered'; detail: string; retryAfterMs?: number } => ({
  kind: 'unanswered',
  detail: failureWords(answer),
  ...waitOf(answer),
})
