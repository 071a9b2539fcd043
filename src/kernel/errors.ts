/**
 * One table of every error that a caller can meet: code → HTTP status, CLI exit code, text.
 * REST, MCP, the CLI, the manifest and the OpenAPI document all read it, so they cannot disagree.
 */

import type { Allowance } from './allowance.ts'
import { type Conflict, type ConflictGiven, type ConflictReason, conflictOf } from './conflict.ts'

interface ErrorKind {
  status: number
  /** The command line's exit code. */
  exit: number
  /**
   * The message. `detail` comes from the thrower. The API document fixes the prefixes, which
   * clients match on.
   */
  text(detail: string): string
  /** Of a 409 that has always the same reason. */
  reason?: ConflictReason
}

const plain = (fallback: string) => (detail: string) => detail || fallback
const prefixWith = (prefix: string) => (detail: string) => (detail ? `${prefix}:${detail}` : prefix)

const joinDetail = (code: string, detail: string): string => (detail ? `${code}: ${detail}` : code)

/**
 * How the API document words a failure of ours, in place of its cause. Other details of `internal`
 * never leave the process.
 */
const failures = ['enqueue failed', 'insert failed', 'trace query failed'] as const
export type DocumentedFailure = (typeof failures)[number]

export const errorTable = {
  invalid_input: { status: 400, exit: 2, text: plain('the request is not valid') },
  x_not_connected: {
    status: 400,
    exit: 5,
    text: (detail) => joinDetail('x_not_connected', detail),
  },
  unauthenticated: {
    status: 401,
    exit: 3,
    text: plain('API key or session token missing, wrong, expired or revoked'),
  },
  missing_scope: { status: 403, exit: 3, text: (scope) => `API key missing scope: ${scope}` },
  forbidden: { status: 403, exit: 3, text: plain('you do not have permission to do this') },
  reauthentication_required: {
    status: 403,
    exit: 3,
    text: prefixWith('reauthentication_required'),
  },
  plan_invalid: { status: 403, exit: 4, text: prefixWith('plan_invalid') },
  plan_quota_exceeded: { status: 403, exit: 4, text: prefixWith('plan_quota_exceeded') },
  plan_feature_disabled: { status: 403, exit: 4, text: prefixWith('plan_feature_disabled') },
  not_found: { status: 404, exit: 6, text: plain('not found') },
  method_not_allowed: { status: 405, exit: 2, text: plain('method not allowed') },
  request_timeout: {
    status: 408,
    exit: 8,
    text: plain('the body did not arrive within 60 seconds'),
  },
  conflict: { status: 409, exit: 7, text: plain('the state of the record does not allow this') },
  idempotency_in_flight: {
    status: 409,
    exit: 8,
    text: () => 'idempotency_in_flight: a request with this Idempotency-Key is still running',
    reason: 'request_running',
  },
  approval_required: {
    status: 409,
    exit: 7,
    text: (detail) => joinDetail('approval_required', detail),
    reason: 'needs_person',
  },
  payload_too_large: { status: 413, exit: 2, text: plain('the body is larger than 1 MiB') },
  unsupported_media_type: {
    status: 415,
    exit: 2,
    text: plain('send the body as application/json'),
  },
  idempotency_key_reused: {
    status: 422,
    exit: 2,
    text: () => 'idempotency_key_reused: this Idempotency-Key was used with another request',
  },
  capability_failed: {
    status: 422,
    exit: 7,
    text: (detail) => joinDetail('capability_failed', detail),
  },
  rate_limited: { status: 429, exit: 8, text: prefixWith('rate_limited') },
  x_read_budget_exhausted: { status: 429, exit: 8, text: () => 'x_read_budget_exhausted' },
  internal: {
    status: 500,
    exit: 1,
    text: (detail) => failures.find((one) => one === detail) ?? 'internal error',
  },
  network_error: { status: 502, exit: 9, text: prefixWith('network_error') },
  channel_unconfigured: {
    status: 503,
    exit: 5,
    text: (channel) => `channel_unconfigured: no connection of ${channel || 'it'} is active yet`,
  },
  unavailable: { status: 503, exit: 8, text: plain('temporarily unavailable, try again') },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof errorTable

export interface ErrorDetail {
  /** The dotted path of the wrong field; empty for the whole body. */
  path: string
  message: string
}

interface Extra extends ErrorOptions {
  details?: ErrorDetail[] | undefined
  /** Seconds until a retry can succeed; sent as Retry-After. */
  retryAfter?: number | undefined
  /** The limits that the request counted against. */
  allowances?: Allowance[] | undefined
}

/** What an error says beside its code. A conflict says why. */
type About<C extends ErrorCode> = 'conflict' extends C
  ? [detail: string, extra: Extra & ConflictGiven]
  : [detail?: string, extra?: Extra]

/** An error as data, for other processes. */
export interface ErrorParts extends Omit<Extra, 'cause'>, Partial<Conflict> {
  code: ErrorCode
  detail: string
}

export class AppError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly detail: string
  readonly details: ErrorDetail[] | undefined
  readonly retryAfter: number | undefined
  readonly allowances: Allowance[] | undefined
  /** Of every 409. */
  readonly conflict: Conflict | undefined

  constructor(code: C, ...[detail = '', extra = {}]: About<C>) {
    const kind: ErrorKind = errorTable[code]
    const { details, retryAfter, allowances, cause, ...given } = extra as Extra &
      Partial<ConflictGiven>
    super(kind.text(detail), cause === undefined ? {} : { cause })
    this.code = code
    this.detail = detail
    this.details = details
    this.allowances = allowances
    this.retryAfter = retryAfter ?? (kind.status === 429 || kind.status === 503 ? 1 : undefined)
    const reason = given.reason ?? kind.reason
    this.conflict = reason && conflictOf({ ...given, reason })
  }

  get status(): number {
    return errorTable[this.code].status
  }

  get parts(): ErrorParts {
    const { code, detail, details, retryAfter, allowances, conflict } = this
    return { code, detail, details, retryAfter, allowances, ...conflict }
  }

  /** The error of these parts. */
  static of({ code, detail, ...extra }: ErrorParts & ErrorOptions): AppError {
    return new AppError(code, detail, extra as Extra & ConflictGiven)
  }

  /** A copy of the error with the limits. Callers share errors, so the original stays unchanged. */
  static withAllowances(error: AppError, allowances: Allowance[]): AppError {
    return AppError.of({ ...error.parts, allowances, cause: error.cause })
  }

  /**
   * Turns anything thrown into an AppError: a foreign error becomes `internal`, and its text never
   * leaves the process.
   */
  static from(cause: unknown): AppError {
    return cause instanceof AppError ? cause : new AppError('internal', '', { cause })
  }

  /** A failure of ours as the API document words it. Any other error is returned as it is. */
  static worded(cause: unknown, failure: DocumentedFailure): AppError {
    const error = AppError.from(cause)
    if (error.code !== 'internal') return error
    return new AppError('internal', failure, {
      allowances: error.allowances,
      cause: error.cause ?? error,
    })
  }
}

/**
 * Whether the error may only mean that no answer came, so that it says nothing about what was asked
 * for.
 */
export const isUnavailable = (cause: unknown): boolean =>
  cause instanceof AppError && cause.code === 'unavailable'

/** Throws. As an expression: `row ?? fail('not_found', 'item')`. */
export const fail = <C extends ErrorCode>(code: C, ...about: About<C>): never => {
  throw new AppError<C>(code, ...about)
}

/** Throws `invalid_input` about one field of an input. */
export const refuseField = (path: string, message: string): never =>
  fail('invalid_input', `${path} ${message}`, { details: [{ path, message }] })

/** The record, or `not_found` with this message. */
export const found = <T>(record: T | undefined, message: string): T =>
  record ?? fail('not_found', message)
