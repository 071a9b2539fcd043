/**
 * The entrances to the database. `read` runs one statement over one tenant's rows. `letter` is the
 * transaction of a command; only group commit begins one. `system` sees placement, tenants and
 * keys, and nothing else.
 */
import postgres from 'postgres'
import { AppError } from '#kernel/errors'
import { Crowd, FairLimit } from '#kernel/fair-limit'
import { arrayTypes } from './array-types.ts'
import { QUERY_DEADLINE_MS, withDeadline } from './deadline.ts'
import { type Letters, openLetters, type PoolUse, useOf } from './letters.ts'
import { openPool } from './pool.ts'
import { type ReadScope, withTenant } from './read-scope.ts'
import type { Patience } from './shared.ts'
import { type Fragment, fragments, type Query, type Sql, send, sqlBy } from './sql.ts'
import { openSessions, type Transaction } from './transaction.ts'

export { codeOf, isTimedOut, isTransient, withDeadline } from './deadline.ts'
export type { PoolUse } from './letters.ts'
export type { Fragment, Query, Sql } from './sql.ts'
export type { Sharing, Transaction } from './transaction.ts'

/** The roles in grants and policies, one for each kind of pool. None of them can log in. */
export const poolRoles = ['tendril_app', 'tendril_system', 'tendril_sandbox'] as const
export type PoolRole = (typeof poolRoles)[number]

export interface Login {
  username: string
  password: string
}

/** The roles that pools log in as. Each inherits from one of the above and has no other rights. */
export type Logins = Record<PoolRole, Login>

/** Where the database is: the options of postgres.js, and logins. */
export interface ConnectionOptions {
  host?: string | undefined
  port?: number | undefined
  database?: string | undefined
  username?: string | undefined
  password?: string | undefined
  max?: number
  ssl?: 'require' | 'prefer' | 'verify-full'
  /** The database's major version, if known. Otherwise only settings that 15 knows are used. */
  version?: number
  /** Without logins, pools log in as `username` and switch roles by a startup parameter. */
  logins?: Logins
  /** Of transactions that letters of several tenants share; for tests. */
  patience?: Patience
  /** Called for each statement sent on behalf of a tenant, `begin` and `commit` included. */
  onStatement?: StatementWatch
  /** Makes the clients of the pools; for tests, whose servers pass them on. */
  client?: typeof postgres | undefined
}

/** The pools that serve tenants: single reads, and the transactions of letters. */
export type StatementWatch = (pool: 'reads' | 'letters', text: string) => void

export interface Db extends AsyncDisposable, Letters {
  /** A single row of nothing but nulls counts as none. */
  read<Row>(reader: ReadScope, query: Query<Row>): Promise<Row[]>
  /** For independent statements. For a transaction, use `systemTransaction`. */
  system<T>(body: (sql: Sql) => PromiseLike<T>): Promise<T>
  /** One transaction with the rights of `system`. */
  systemTransaction<T>(body: (sql: Transaction) => PromiseLike<T>): Promise<T>
  /** Its pools, as they are used at the moment. */
  uses(): PoolUse[]
}

/** The first version with `transaction_timeout`. */
const LIMITS_TRANSACTIONS = 17

/**
 * Limits by which the database ends the session of a client that is cut off. A client that is cut
 * off after a statement was described, but before it ran it, leaves a session that counts as active
 * and keeps reading. Neither the limit of idle transactions nor that of statements applies to it,
 * and keep-alives are not sent while an answer is unacknowledged. The limit of transactions ends
 * such a session. Before version 17, the limit of unacknowledged answers does, unless only the
 * process stopped while its machine goes on.
 */
export const silenceLimits = (
  { version = 0 }: ConnectionOptions,
  withinMs: number,
): Record<string, number> => ({
  idle_in_transaction_session_timeout: 2_000,
  tcp_user_timeout: withinMs,
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  ...(version >= LIMITS_TRANSACTIONS ? { transaction_timeout: withinMs } : {}),
})

/**
 * A process that stops mid-transaction must not keep its row locks, or a takeover would wait
 * forever. A statement ends before its caller's deadline, because otherwise its connection would
 * pass to the next caller while still busy.
 */
export const sessionLimits = (options: ConnectionOptions): Record<string, number> => ({
  statement_timeout: QUERY_DEADLINE_MS - 500,
  lock_timeout: 2_000,
  ...silenceLimits(options, QUERY_DEADLINE_MS),
})
/** The client parses times in ISO 8601 only, but a database may be set to another style. */
export const TIMES_AS_ISO = { DateStyle: 'ISO', TimeZone: 'UTC' }

/** Options of a connection under a role, with further settings for its session. */
export const connectionAs = (
  role: PoolRole,
  { logins, onStatement: _, patience: __, client: ___, ...options }: ConnectionOptions,
  settings: Record<string, string | number>,
): ConnectionOptions & { connection: postgres.ConnectionParameters } => ({
  ...options,
  ...logins?.[role],
  connection: {
    ...(logins ? {} : { role }),
    ...settings,
  } as unknown as postgres.ConnectionParameters,
})

interface Opened {
  role: PoolRole
  max: number
  /** The name under which its statements are reported to `onStatement`. */
  pool?: Parameters<StatementWatch>[0]
  /**
   * Set for a session, which keeps its connection: the client itself would replace it in the middle
   * of a transaction.
   */
  onclose?: () => void
}

const open = (options: ConnectionOptions, { role, max, pool, onclose }: Opened): postgres.Sql => {
  const { onStatement, client = postgres } = options
  return client({
    ...connectionAs(role, options, {
      application_name: 'tendril',
      ...sessionLimits(options),
      ...TIMES_AS_ISO,
    }),
    max,
    ...(onclose ? { onclose, max_lifetime: null } : {}),
    connect_timeout: 3,
    idle_timeout: 60,
    // By default, the client waits up to 20 s between attempts. Requests would wait as well, even
    // when the database is back.
    backoff: () => 0.1,
    onnotice: () => {},
    fetch_types: false,
    ...(onStatement && pool && { debug: (_, text) => onStatement(pool, text) }),
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String }, ...arrayTypes },
    // Missing from the type declarations. Without it the client degrades under load: its queue of
    // busy connections never drains.
    ...({ max_pipeline: 1 } as object),
  })
}

/** The rows that the query found. */
const foundIn = <Row>(rows: Row[]): Row[] =>
  rows.length === 1 && Object.values(rows[0] as object).every((value) => value === null) ? [] : rows

/** Connections are granted to tenants round-robin: a tenant that floods delays only itself. */
const WAITING = { bound: 1_000, withinMs: QUERY_DEADLINE_MS }
/**
 * The share of the read connections that a tenant can use while no other asks. While others do, it
 * gets one at a time.
 */
const READ_SHARE = 0.3

/** How many transactions with the rights of `system` can run at once. */
const SYSTEM_TRANSACTIONS = 2

/**
 * Statements over the rows of tenants. Each takes a turn, which ends at the deadline, because a
 * query may never end.
 */
const openReads = (options: ConnectionOptions, { max, crowd }: { max: number; crowd: Crowd }) => {
  const pool = openPool(() => open(options, { role: 'tendril_app', max, pool: 'reads' }))
  const turns = new FairLimit({
    name: 'reads',
    total: max,
    crowd,
    share: { alone: Math.ceil(max * READ_SHARE), among: 1 },
    ...WAITING,
  })
  let sent = 0
  const ask = <Row>(reader: ReadScope, query: Fragment<Row>, until: number): Promise<Row[]> => {
    sent++
    return withDeadline(send(pool.sql, withTenant(fragments, reader, query)), pool.ask(), until)
  }
  return {
    read: async <Row>(reader: ReadScope, query: Query<Row>): Promise<Row[]> => {
      // The deadline includes the wait for a turn.
      const until = performance.now() + QUERY_DEADLINE_MS
      const turn = turns.enter(reader.tenantId)
      if (turn) await turn
      try {
        const rows = await ask(reader, query(fragments), until)
        if (rows.length === 0) throw new AppError('unauthenticated')
        return foundIn(rows)
      } finally {
        turns.leave(reader.tenantId)
      }
    },
    use: () => useOf('reads', max, turns, sent),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

export const openDb = (options: ConnectionOptions): Db => {
  const max = options.max ?? 10
  const crowd = new Crowd()
  const reads = openReads(options, { max, crowd })
  const letters = openLetters({
    max,
    crowd,
    waiting: WAITING,
    patience: options.patience,
    connect: (onclose) => open(options, { role: 'tendril_app', max: 1, pool: 'letters', onclose }),
  })
  const system = openPool(() => open(options, { role: 'tendril_system', max: 3 }))
  const systemTransactions = openSessions(SYSTEM_TRANSACTIONS, (onclose) =>
    open(options, { role: 'tendril_system', max: 1, onclose }),
  )
  const systemLimit = new FairLimit({ name: 'system', total: SYSTEM_TRANSACTIONS, ...WAITING })
  let systemSent = 0
  const systemSql = sqlBy((statement) => {
    systemSent++
    return send(system.sql, statement)
  })
  return {
    read: reads.read,
    letter: letters.letter,
    hurry: letters.hurry,
    urgent: letters.urgent,
    system: (body) => withDeadline(body(systemSql), system.ask()),
    systemTransaction: (body) => systemLimit.run('', () => systemTransactions.transaction(body)),
    uses: () => [
      reads.use(),
      ...letters.uses(),
      useOf('system', SYSTEM_TRANSACTIONS, systemLimit, systemSent + systemTransactions.sent()),
    ],
    async [Symbol.asyncDispose]() {
      await Promise.all(
        [reads, letters, system, systemTransactions].map((pool) => pool[Symbol.asyncDispose]()),
      )
    },
  }
}

/**
 * A dedicated long-lived connection, for a session lock. Disposing closes it; `onClose` reports
 * that the database closed it.
 */
export const openSession = (options: ConnectionOptions, onClose: () => void): postgres.Sql =>
  postgres({
    ...connectionAs('tendril_system', options, { application_name: 'tendril-node' }),
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 3,
    onnotice: () => {},
    onclose: onClose,
    fetch_types: false,
  })
