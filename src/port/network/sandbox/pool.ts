/**
 * The sandbox network's own pool. It uses a role that sees nothing else, has a deadline for every
 * query, and its failures tell whether anything can have been written.
 */
import postgres from 'postgres'
import { systemClock } from '#kernel/clock'
import { arrayTypes } from '#store/engine/array-types'
import {
  type ConnectionOptions,
  codeOf,
  connectionAs,
  silenceLimits,
  TIMES_AS_ISO,
} from '#store/engine/db'

/** Runs a query on the pool. Throws `SandboxFailure` if the database fails. */
export type RunQuery = <T>(query: (sql: postgres.Sql) => Promise<T>) => Promise<T>

export class SandboxFailure extends Error {
  override readonly name = 'SandboxFailure'
  constructor(
    /** `nothing`: certainly nothing was written. */
    readonly written: 'nothing' | 'unknown',
    cause: unknown,
  ) {
    super(codeOf(cause) || (cause instanceof Error ? cause.message : String(cause)), { cause })
  }
}

const STATEMENT_TIMEOUT_MS = 5_000
/**
 * Longer than the database's own limit, which gives the better answer. It is for a database that
 * does not answer at all.
 */
const DEADLINE_MS = 6_000
const CONNECT_TIMEOUT_S = 3
/** How long disposing waits for queries in flight. */
const END_PATIENCE_MS = 1_000

/** No connection, so nothing was sent: refused, no such host or socket, or rejected at login. */
const NEVER_CONNECTED =
  /^(ECONNREFUSED|ENOENT|ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT|CONNECTION_ENDED|28[0-9A-Z]{3}|3D000|53300|57P03)$/

/**
 * A statement that failed was rolled back. A broken connection says nothing about its last
 * statement.
 */
const writtenAfter = (cause: unknown): 'nothing' | 'unknown' => {
  if (cause instanceof postgres.PostgresError && cause.severity === 'ERROR') return 'nothing'
  return NEVER_CONNECTED.test(codeOf(cause)) ? 'nothing' : 'unknown'
}

const connect = (options: ConnectionOptions): postgres.Sql =>
  (options.client ?? postgres)({
    ...connectionAs('tendril_sandbox', options, {
      application_name: 'tendril-sandbox',
      statement_timeout: STATEMENT_TIMEOUT_MS,
      ...silenceLimits(options, DEADLINE_MS),
      ...TIMES_AS_ISO,
    }),
    max: 4,
    connect_timeout: CONNECT_TIMEOUT_S,
    idle_timeout: 60,
    // By default, the client waits up to 20 s between attempts, and a query that waits for one
    // cannot tell that nothing was sent.
    backoff: () => 0.1,
    fetch_types: false,
    types: arrayTypes,
    onnotice: () => {},
    // Missing from the type declarations; store/engine/pool.ts says why.
    ...({ max_pipeline: 1 } as object),
  })

/** Rejects when the deadline passes, after calling `onLate`. */
const withDeadline = async <T>(running: Promise<T>, onLate: () => void): Promise<T> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  using _timer = systemClock.after(DEADLINE_MS, () => {
    onLate()
    reject(new Error(`no answer within ${DEADLINE_MS} ms`))
  })
  return await Promise.race([running, late])
}

/**
 * A pool whose queries end by the deadline. If one does not, the whole pool is replaced: its
 * connections may be dead.
 */
export const openSandboxPool = (
  options: ConnectionOptions,
): { run: RunQuery; end(): Promise<void> } => {
  let current = connect(options)
  const inFlight = new Set<Promise<unknown>>()
  // Without a timeout, postgres.js's `end` waits forever for a query during which its connection
  // broke.
  const drop = (sql: postgres.Sql): Promise<void> => sql.end({ timeout: 0 })
  const replace = (broken: postgres.Sql): void => {
    if (broken !== current) return
    current = connect(options)
    void drop(broken)
  }
  const run: RunQuery = async (query) => {
    const sql = current
    const running = withDeadline(query(sql), () => replace(sql)).catch((cause) => {
      throw new SandboxFailure(writtenAfter(cause), cause)
    })
    inFlight.add(running)
    return await running.finally(() => inFlight.delete(running))
  }
  const end = async (): Promise<void> => {
    const { promise: outOfPatience, resolve } = Promise.withResolvers<void>()
    using _timer = systemClock.after(END_PATIENCE_MS, resolve)
    await Promise.race([Promise.allSettled(inFlight), outOfPatience])
    await drop(current)
  }
  return { run, end }
}
