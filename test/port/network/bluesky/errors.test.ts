/** What each answer of a server means, for what is written and for what is read. */
import { describe, expect, test } from 'bun:test'
import { meaningOf, meanings, readError, writeResult } from '#port/network/bluesky/errors'
import type { XrpcFailure } from '#port/network/bluesky/xrpc'

const failed = (status: number, name: string | null, more = {}): XrpcFailure => ({
  kind: 'failed',
  status,
  isComplete: true,
  error: name === null ? null : { name, message: 'Why not' },
  waitMs: undefined,
  ...more,
})

const writing = (answer: XrpcFailure): string => {
  const result = writeResult(answer)
  if (result.kind === 'not_applied')
    return `not_applied ${result.isSessionOver ? 'session over' : result.reason}`
  return result.kind === 'unknown' ? `unknown ${result.cause}` : result.kind
}
const reading = (answer: XrpcFailure): string => {
  const { reason, isSessionOver } = readError(answer)
  return isSessionOver ? `${reason}, session over` : reason
}

const SESSION = ['not_applied session over', 'unreachable, session over'] as const
const GONE = ['disconnected', 'disconnected'] as const
const REFUSED = ['refused', 'bad_answer'] as const
const DOUBT = ['unknown server_error', 'unreachable'] as const

/** By the name of the error: the status it usually has, what a write comes to, and a read. */
const rows: Record<string, readonly [status: number, write: string, read: string]> = {
  ExpiredToken: [400, ...SESSION],
  InvalidToken: [401, ...SESSION],
  invalid_token: [401, ...SESSION],
  use_dpop_nonce: [401, 'not_applied unreachable', 'unreachable'],
  AccountTakedown: [401, ...GONE],
  AccountSuspended: [401, ...GONE],
  AccountDeactivated: [401, ...GONE],
  RepoTakendown: [400, ...GONE],
  RepoSuspended: [400, ...GONE],
  RepoDeactivated: [400, ...GONE],
  AuthenticationRequired: [401, ...GONE],
  AuthMissing: [401, ...GONE],
  AuthFactorTokenRequired: [401, ...GONE],
  Forbidden: [403, ...GONE],
  AccountNotFound: [403, ...GONE],
  RateLimitExceeded: [400, 'not_applied rate_limited', 'rate_limited'],
  InvalidSwap: [400, 'unknown unclear_answer', 'bad_answer'],
  RecordNotFound: [400, ...REFUSED],
  RepoNotFound: [400, ...REFUSED],
  HandleNotFound: [400, ...REFUSED],
  DidNotFound: [400, ...REFUSED],
  BlockedActor: [400, ...REFUSED],
  BlockedByActor: [400, ...REFUSED],
  InvalidRequest: [400, ...REFUSED],
  NotAcceptable: [406, ...REFUSED],
  PayloadTooLarge: [413, ...REFUSED],
  UnsupportedMediaType: [415, ...REFUSED],
  XRPCNotSupported: [404, ...REFUSED],
  MethodNotImplemented: [404, ...REFUSED],
  InternalServerError: [400, ...DOUBT],
  UpstreamFailure: [400, ...DOUBT],
  NotEnoughResources: [400, ...DOUBT],
  UpstreamTimeout: [400, 'unknown no_answer', 'unreachable'],
}

describe('an error', () => {
  test('is in this table if it is in the one of the adapter', () => {
    expect(Object.keys(rows).toSorted()).toEqual(Object.keys(meanings).toSorted())
  })

  test.each(Object.entries(rows))('called %s', (name, [status, write, read]) => {
    const answer = failed(status, name)
    expect([writing(answer), reading(answer)]).toEqual([write, read])
  })

  test.each(Object.keys(rows))('called %s proves nothing with a status of 500', (name) => {
    expect(writing(failed(500, name))).toBe('unknown server_error')
  })

  test.each(Object.keys(rows))('called %s proves nothing if the answer broke off', (name) => {
    expect(writing(failed(400, name, { isComplete: false, error: null }))).toBe('unknown no_answer')
  })
})

describe('an answer', () => {
  test.each<[string, XrpcFailure, write: string, read: string]>([
    ['4xx of an unknown name', failed(400, 'NoSuchThing'), ...REFUSED],
    ['4xx named like a part of every object', failed(400, 'constructor'), ...REFUSED],
    ['401 of an unknown name', failed(401, 'BadJwtSignature'), ...GONE],
    ['403 of an unknown name', failed(403, 'NotYou'), ...GONE],
    ['400 of another form', failed(400, null), 'unknown unclear_answer', 'bad_answer'],
    ['401 of another form', failed(401, null), 'unknown unclear_answer', 'bad_answer'],
    ['404 of another form', failed(404, null), 'unknown unclear_answer', 'bad_answer'],
    ['redirect', failed(302, null), 'unknown unclear_answer', 'bad_answer'],
    [
      'redirect in the form of an error',
      failed(302, 'InvalidRequest'),
      'unknown unclear_answer',
      'bad_answer',
    ],
    ['success of another form', failed(200, null), 'unknown unclear_answer', 'bad_answer'],
    [
      'success in the form of an error',
      failed(200, 'InvalidRequest'),
      'unknown unclear_answer',
      'bad_answer',
    ],
    [
      'success that broke off',
      failed(200, null, { isComplete: false }),
      'unknown no_answer',
      'unreachable',
    ],
    ['429 of another form', failed(429, null), 'not_applied rate_limited', 'rate_limited'],
    ['500 of another form', failed(500, null), ...DOUBT],
    ['502 of the protocol', failed(502, 'UpstreamFailure'), ...DOUBT],
    [
      '500 that broke off',
      failed(500, null, { isComplete: false }),
      'unknown no_answer',
      'unreachable',
    ],
    ['504', failed(504, 'UpstreamTimeout'), 'unknown no_answer', 'unreachable'],
    ['504 of another form', failed(504, null), 'unknown no_answer', 'unreachable'],
    ['silence', { kind: 'silent', words: 'late' }, 'unknown no_answer', 'unreachable'],
    [
      'failed connection',
      { kind: 'unsent', words: 'no', isForbidden: false },
      'not_applied unreachable',
      'unreachable',
    ],
    [
      'refusal of our own',
      { kind: 'unsent', words: 'no', isForbidden: true },
      'not_applied unreachable',
      'unreachable',
    ],
  ])('that is a %s', (_, answer, write, read) => {
    expect([writing(answer), reading(answer)]).toEqual([write, read])
  })

  test('is told in its own words, and says how long to wait', () => {
    expect(writeResult(failed(400, 'InvalidRequest'))).toEqual({
      kind: 'refused',
      reason: 'InvalidRequest: Why not',
    })
    expect(writeResult(failed(429, 'RateLimitExceeded', { waitMs: 7_000 }))).toEqual({
      kind: 'not_applied',
      reason: 'rate_limited',
      detail: 'RateLimitExceeded: Why not',
      retryAfterMs: 7_000,
    })
    expect(readError(failed(429, 'RateLimitExceeded', { waitMs: 7_000 })).retryAfterMs).toBe(7_000)
    expect(meaningOf(failed(400, 'InvalidSwap'))).toBe('taken')
  })
})
