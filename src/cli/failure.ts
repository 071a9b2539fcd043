/** Failures of a command: misuse, refusals by the server and broken connections. */
import type { Conflict } from '#kernel/conflict'
import { AppError, type ErrorCode, type ErrorDetail, errorTable } from '#kernel/errors'

/** The exit code for a record that settled as failed: the request succeeded, the work did not. */
export const FAILED_EXIT = 10
/** The exit code that shells report for a process ended by SIGINT. */
export const INTERRUPTED_EXIT = 130
export const INTERRUPTED = 'interrupted'

interface More {
  details?: readonly ErrorDetail[] | undefined
  /** Of a 409. A newer server may send a reason that this program does not know. */
  conflict?: Conflict | undefined
  /** One sentence on what to do about it. */
  hint?: string
  requestId?: string
  exit?: number
  /** Seconds, from the server. */
  retryAfter?: number | undefined
}

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code)

export class Failure extends Error {
  override readonly name = 'Failure'
  readonly details: readonly ErrorDetail[]
  readonly conflict: Conflict | undefined
  readonly hint: string | undefined
  readonly requestId: string | undefined
  readonly exit: number
  readonly retryAfter: number | undefined

  /** `code`: from the error table, or unknown if the server is newer. */
  constructor(
    readonly code: string,
    message: string,
    { details = [], conflict, hint, requestId, exit, retryAfter }: More = {},
  ) {
    super(message)
    this.details = details
    this.conflict = conflict
    this.hint = hint
    this.requestId = requestId
    this.retryAfter = retryAfter
    this.exit = exit ?? (isKnown(code) ? errorTable[code].exit : 1)
  }

  static from(cause: unknown): Failure {
    if (cause instanceof Failure) return cause
    if (cause instanceof AppError)
      return new Failure(cause.code, cause.message, {
        details: cause.details,
        conflict: cause.conflict,
      })
    return new Failure('internal', cause instanceof Error ? cause.message : String(cause))
  }
}

/** Throws a `Failure` for wrong arguments, with exit code 2. It can be used as an expression. */
export const misuse = (message: string, hint?: string): never => {
  throw new Failure('invalid_input', message, { hint })
}

/**
 * Turns commander's words, such as `error: unknown option '--x'\n(Did you mean --y?)`, into a
 * message and a hint.
 */
export const misuseOf = ({ message }: { message: string }): Failure => {
  const [first = '', ...rest] = message.replace(/^error: /, '').split('\n')
  const suggestion = /^\((.*)\)$/s.exec(rest.join(' ').trim())?.[1]
  return new Failure('invalid_input', first, { hint: suggestion ?? 'see --help' })
}
