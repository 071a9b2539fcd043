/** Deadlines of queries, and what callers are told when the database does not answer. */
import postgres from 'postgres'
import { AppError } from '#kernel/errors'
import type { QueryWatch } from './pool.ts'

/** Callers get an answer within five seconds, whatever the database does. */
export const QUERY_DEADLINE_MS = 4_500

/** Errors that pass by themselves. The caller is asked to retry. */
const TRANSIENT =
  /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|ENOENT|EPIPE|ETIMEDOUT|ERR_SOCKET|57P0[123]|53[0-9A-Z]{3}|57014|55P03|25P0[34]|40001|40P01|08[0-9A-Z]{3})/

export const codeOf = (cause: unknown): string =>
  String((cause as { code?: unknown } | null)?.code ?? '')

/** SQLSTATE `disk_full`. Reads continue, and writes resume as soon as there is space. */
const DISK_FULL = '53100'

/** Whether the database was unreachable or gave up, so that a retry may succeed. */
export const isTransient = (cause: unknown): boolean =>
  TRANSIENT.test(codeOf(cause)) || cause instanceof DeadlineError || endsSession(cause)

/** FATAL: the database refuses connections or has ended the session. No statement is at fault. */
const endsSession = (cause: unknown): boolean =>
  /^(FATAL|PANIC)$/.test(String((cause as { severity?: unknown } | null)?.severity))

/** SQLSTATE `query_canceled`: a statement took too long, so nothing of its transaction happened. */
const QUERY_CANCELED = '57014'

/**
 * Whether the database gave up on a statement because it took too long. `cause` may also be the
 * error that callers get.
 */
export const isTimedOut = (cause: unknown): boolean =>
  [cause, (cause as Error | null)?.cause].some((one) => codeOf(one) === QUERY_CANCELED)

export class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

const reasonOf = (cause: unknown): string =>
  codeOf(cause) === DISK_FULL
    ? "the database's disk is full: the operator must free some space"
    : 'the database is not available'

/** The error that callers get. */
const explainError = (cause: unknown): unknown =>
  cause instanceof AppError || !isTransient(cause)
    ? cause
    : new AppError('unavailable', reasonOf(cause), { cause, retryAfter: 1 })

interface Late {
  until: number
  late(): void
}

/** Queries in flight. They are checked at intervals, because a timer for each costs more. */
const inFlight = new Set<Late>()
const CHECK_EVERY_MS = 100
let checking: Timer | undefined

const failLate = (): void => {
  const now = performance.now()
  for (const query of inFlight) {
    if (query.until > now) continue
    inFlight.delete(query)
    query.late()
  }
  if (inFlight.size > 0) return
  clearInterval(checking)
  checking = undefined
}

/**
 * Rejects at the deadline, which is a monotonic time, because postgres.js has hung on lost
 * connections.
 */
export const withDeadline = <T>(
  running: PromiseLike<T>,
  watch?: QueryWatch,
  until = performance.now() + QUERY_DEADLINE_MS,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const failed = (cause: unknown): void => {
      inFlight.delete(entry)
      if (cause instanceof postgres.PostgresError || !isTransient(cause)) watch?.answered()
      reject(explainError(cause))
    }
    const late = () => {
      watch?.late()
      failed(new DeadlineError('the database did not answer in time'))
    }
    const entry = { until, late }
    inFlight.add(entry)
    checking ??= setInterval(failLate, CHECK_EVERY_MS)
    running.then((value) => {
      inFlight.delete(entry)
      watch?.answered()
      resolve(value)
    }, failed)
  })
