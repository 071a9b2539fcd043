/** Whatever ends a command without success: one form for mistakes in the arguments, refusals of the server, and broken connections. */
import { AppError, type ErrorCode, type ErrorDetail, errorTable } from '#kernel/errors'

/** A record that settled as `failed`: the request succeeded, the work did not. */
export const FAILED_EXIT = 10
/** As a shell reports a process that SIGINT ended. */
export const INTERRUPTED_EXIT = 130
export const INTERRUPTED = 'interrupted'

interface More {
  details?: readonly ErrorDetail[]
  /** What to do about it, in a sentence. */
  hint?: string
  requestId?: string
  exit?: number
  /** Seconds, as the server asks for. */
  retryAfter?: number | undefined
}

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code)

export class Failure extends Error {
  override readonly name = 'Failure'
  readonly details: readonly ErrorDetail[]
  readonly hint: string | undefined
  readonly requestId: string | undefined
  readonly exit: number
  readonly retryAfter: number | undefined

  /** `code` is one of the error table, or one that a newer server knows. */
  constructor(
    readonly code: string,
    message: string,
    { details = [], hint, requestId, exit, retryAfter }: More = {},
  ) {
    super(message)
    this.details = details
    this.hint = hint
    this.requestId = requestId
    this.retryAfter = retryAfter
    this.exit = exit ?? (isKnown(code) ? errorTable[code].exit : 1)
  }

  static from(cause: unknown): Failure {
    if (cause instanceof Failure) return cause
    if (cause instanceof AppError) return new Failure(cause.code, cause.message, { details: cause.details })
    return new Failure('internal', cause instanceof Error ? cause.message : String(cause))
  }
}

/** A mistake in the arguments: exit code 2. Usable as an expression. */
export const misuse = (message: string, hint?: string): never => {
  throw new Failure('invalid_input', message, { hint })
}
