import { describe, expect, test } from 'bun:test'
import { AppError, type ErrorCode, errorTable, fail } from '#kernel/errors'

const codes = Object.keys(errorTable) as ErrorCode[]

/** The messages and statuses of the API document, on which clients rely. */
const documented: [ErrorCode, string, number, string][] = [
  ['plan_invalid', 'billing_suspended', 403, 'plan_invalid:billing_suspended'],
  ['plan_invalid', 'trial_expired', 403, 'plan_invalid:trial_expired'],
  ['plan_quota_exceeded', 'posts', 403, 'plan_quota_exceeded:posts'],
  ['plan_feature_disabled', 'agent', 403, 'plan_feature_disabled:agent'],
  ['rate_limited', 'post_now', 429, 'rate_limited:post_now'],
  ['x_not_connected', '', 400, 'x_not_connected'],
  ['x_read_budget_exhausted', '', 429, 'x_read_budget_exhausted'],
  ['missing_scope', 'api:write', 403, 'API key missing scope: api:write'],
  ['internal', 'enqueue failed', 500, 'enqueue failed'],
  ['internal', 'insert failed', 500, 'insert failed'],
  ['internal', 'trace query failed', 500, 'trace query failed'],
]
test.each(documented)(
  '%s (%s) is %i with the documented message',
  (code, detail, status, message) => {
    const error = new AppError(code, detail)
    expect({ status: error.status, message: error.message }).toEqual({ status, message })
  },
)

test('any other detail of internal stays withheld', () => {
  expect(new AppError('internal', 'there is no operation x').message).toBe('internal error')
})

test('a failure is worded only if it is ours: refusals and a database that is away stay what they are', () => {
  const cause = new Error('a secret')
  expect(AppError.worded(cause, 'enqueue failed')).toMatchObject({
    code: 'internal',
    message: 'enqueue failed',
    cause,
  })
  for (const code of ['unavailable', 'conflict', 'invalid_input'] as const) {
    const error = new AppError(code, 'why')
    expect(AppError.worded(error, 'enqueue failed')).toBe(error)
  }
})

test.each([
  ['idempotency_in_flight', 409],
  ['idempotency_key_reused', 422],
] as const)('the message of %s begins with the code', (code, status) => {
  const error = new AppError(code, 'never shown')
  expect(error.status).toBe(status)
  expect(error.message).toStartWith(code)
})

test.each([
  ['unauthenticated', 401],
  ['not_found', 404],
  ['method_not_allowed', 405],
  ['conflict', 409],
  ['payload_too_large', 413],
  ['unsupported_media_type', 415],
  ['internal', 500],
  ['network_error', 502],
  ['unavailable', 503],
] as const)('%s is %i', (code, status) => {
  expect(new AppError(code).status).toBe(status)
})

describe.each(codes)('%s', (code) => {
  test('has an HTTP status and an exit code of a failure, and a message even without detail', () => {
    const { status, exit } = errorTable[code]
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(600)
    expect(exit).toBeGreaterThan(0)
    expect(exit).toBeLessThan(126)
    expect(new AppError(code).message).not.toBe('')
  })

  test('has retryAfter exactly if its status is 429 or 503', () => {
    const error = new AppError(code)
    if (error.status === 429 || error.status === 503) expect(error.retryAfter).toBeGreaterThan(0)
    else expect(error.retryAfter).toBeUndefined()
    expect(new AppError(code, '', { retryAfter: 30 }).retryAfter).toBe(30)
  })
})

test('a foreign error becomes an internal error that keeps it as the cause and withholds its text', () => {
  for (const cause of [
    new Error('password is hunter2'),
    'hunter2',
    undefined,
    null,
    { code: 'not_found' },
  ]) {
    const error = AppError.from(cause)
    expect({ code: error.code, message: error.message, cause: error.cause }).toEqual({
      code: 'internal',
      message: 'internal error',
      cause,
    })
  }
  expect(new AppError('internal', 'hunter2').message).toBe('internal error')
})

test('an AppError stays the same object', () => {
  const error = new AppError('conflict')
  expect(AppError.from(error)).toBe(error)
})

test('fail throws the error that it names, with its details', () => {
  const details = [{ path: 'a.b', message: 'is wrong' }]
  const thrown = (() => {
    try {
      return fail('invalid_input', 'a.b is wrong', { details })
    } catch (cause) {
      return cause as AppError
    }
  })()
  expect(thrown).toBeInstanceOf(AppError)
  expect({ code: thrown.code, message: thrown.message, details: thrown.details }).toEqual({
    code: 'invalid_input',
    message: 'a.b is wrong',
    details,
  })
})
