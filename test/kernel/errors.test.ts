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
    const error = AppError.of({ code, detail })
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
    const error = AppError.of({ code, detail: 'why' })
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
  expect(AppError.of({ code, detail: '' }).status).toBe(status)
})

describe.each(codes)('%s', (code) => {
  test('has an HTTP status and an exit code of a failure, and a message even without detail', () => {
    const { status, exit } = errorTable[code]
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(600)
    expect(exit).toBeGreaterThan(0)
    expect(exit).toBeLessThan(126)
    expect(AppError.of({ code, detail: '' }).message).not.toBe('')
  })

  test('has retryAfter exactly if its status is 429 or 503', () => {
    const error = AppError.of({ code, detail: '' })
    if (error.status === 429 || error.status === 503) expect(error.retryAfter).toBeGreaterThan(0)
    else expect(error.retryAfter).toBeUndefined()
    expect(AppError.of({ code, detail: '', retryAfter: 30 }).retryAfter).toBe(30)
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
  const error = new AppError('conflict', '', { reason: 'wrong_state' })
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

test('a conflict without a reason does not compile, and every 409 has one', () => {
  // @ts-expect-error
  new AppError('conflict', 'no')
  // @ts-expect-error
  expect(() => fail('conflict', 'no')).toThrow()
  // @ts-expect-error
  new AppError('conflict', 'no', { reason: 'because' })
  const reasonOf = {
    conflict: new AppError('conflict', '', { reason: 'in_doubt' }),
    idempotency_in_flight: new AppError('idempotency_in_flight'),
    approval_required: new AppError('approval_required'),
  }
  for (const code of codes.filter((one) => errorTable[one].status === 409))
    expect(reasonOf[code as keyof typeof reasonOf].conflict?.reason).toBeString()
})

test('an error that crosses processes as JSON keeps what it says', () => {
  const error = new AppError('conflict', 'no', {
    reason: 'slot_taken',
    by: { kind: 'person', id: 'p1', name: 'Lena' },
    at: new Date(0),
    next_free_at: null,
    details: [{ path: 'next', message: 'growth.items.get' }],
    allowances: [{ name: 'commands', limit: 1, window: 1, left: 0, resetsIn: 1 }],
  })
  const conflict = {
    reason: 'slot_taken',
    by: { kind: 'person', id: 'p1', name: 'Lena' },
    at: '1970-01-01T00:00:00.000Z',
    next_free_at: null,
  } as const
  expect(error.conflict).toEqual(conflict)
  const arrived = AppError.of(JSON.parse(JSON.stringify(error.parts)))
  expect(arrived.parts).toEqual(error.parts)
  expect(arrived.conflict).toEqual(conflict)
  expect(arrived.message).toBe(error.message)
})
