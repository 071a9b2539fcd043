/**
 * The entrances to the database. `read` runs one statement over one tenant's rows. `letter` is the transaction of a command; only group
 * commit begins one. `system` sees placement, tenants and keys, and nothing else.
 */
import postgres from 'postgres'
import { AppError } from '#kernel/errors'
import { Crowd, type Demand, FairLimit } from '#kernel/fair-limit'
import { arrayTypes } from './array-types.ts'
import { openPool, type Pool, type QueryWatch } from './pool.ts'
import type { Principal } from './principal.ts'

export type Sql = postgres.Sql | postgres.TransactionSql
/** A query or a part of one. Runs when awaited; can be used inside another template. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>
export type Query = (sql: Sql) => Fragment

/** The roles in grants and policies, one for each kind of pool. None can log in. */
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
  /** Without logins, pools log in as `username` and switch roles by a startup parameter. */
  logins?: Logins
  /** Called for each statement sent on behalf of a tenant, `begin` and `commit` included. */
  onStatement?: StatementWatch
}

/** The pools that serve tenants: single reads, and the transactions of letters. */
export type StatementWatch = (pool: 'reads' | 'letters', text: string) => void

/** The tenant whose rows a statement sees, and the caller whose credential it checks, if any. */
export interface Reader {
  tenantId: string
  caller?: Principal | undefined
}

export interface Db extends AsyncDisposable {
  read<Row>(reader: Reader, query: Query): Promise<Row[]>
  /** One transaction of a tenant. Those with a waiting caller go first. */
  letter<T>(tenantId: string, body: (sql: Sql) => Promise<T>, demand?: Demand): Promise<T>
  /** A caller now waits for a transaction that was begun unasked, or for one behind it. */
  hurry(tenantId: string): void
  /** Independent statements. For a transaction use `systemTransaction`. */
  system<T>(body: (sql: Sql) => Promise<T>): Promise<T>
  /** One transaction with the rights of `system`. */
  systemTransaction<T>(body: (sql: Sql) => Promise<T>): Promise<T>
}

/** Callers get an answer within five seconds, whatever the database does. */
const QUERY_DEADLINE_MS = 4_500

/**
 * A process that stops mid-transaction must not keep its row locks, or a takeover would wait for ever. A statement ends before its caller's
 * deadline: otherwise its connection would pass to the next caller while still busy.
 */
const SESSION_LIMITS = {
  statement_timeout: QUERY_DEADLINE_MS - 500,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 2_000,
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
}
/** The client parses times in ISO 8601 only, but a database may be set to another style. */
export const TIMES_AS_ISO = { DateStyle: 'ISO', TimeZone: 'UTC' }

/** Errors that pass by themselves: the caller is asked to retry. */
const TRANSIENT =
  /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|ENOENT|EPIPE|ETIMEDOUT|ERR_SOCKET|57P0[123]|53[0-9A-Z]{3}|57014|55P03|25P0[34]|40001|40P01|08[0-9A-Z]{3})/

export const codeOf = (cause: unknown): string => String((cause as { code?: unknown } | null)?.code ?? '')

/** SQLSTATE `disk_full`: reads go on, and writes resume as soon as there is space. */
const DISK_FULL = '53100'

/** Whether the database was unreachable or gave up, so that a retry may succeed. */
const isTransient = (cause: unknown): boolean => TRANSIENT.test(codeOf(cause)) || cause instanceof DeadlineError || endsSession(cause)

/** FATAL: the database refuses connections or has ended the session. No statement is at fault. */
const endsSession = (cause: unknown): boolean => /^(FATAL|PANIC)$/.test(String((cause as { severity?: unknown } | null)?.severity))

class DeadlineError extends Error {
  override readonly name = 'DeadlineError'
}

const reasonOf = (cause: unknown): string =>
  codeOf(cause) === DISK_FULL ? "the database's disk is full: the operator must free some space" : 'the database is not available'

/** Queries in flight, by deadline. They are checked at intervals, because a timer for each costs more. */
const inFlight = new Set<{ until: number; late(): void }>()
const CHECK_EVERY_MS = 100
let checking: Timer | undefined

const failLate = (): void => {
  const now = performance.now()
  for (const one of inFlight) {
    if (one.until > now) break
    inFlight.delete(one)
    one.late()
  }
  if (inFlight.size > 0) return
  clearInterval(checking)
  checking = undefined
}

/** Rejects at the deadline: postgres.js has hung on lost connections. */
export const withDeadline = <T>(running: Promise<T>, watch?: QueryWatch): Promise<T> =>
  new Promise((resolve, reject) => {
    const failed = (cause: unknown): void => {
      inFlight.delete(entry)
      if (cause instanceof postgres.PostgresError || !isTransient(cause)) watch?.answered()
      const isOurs = cause instanceof AppError || !isTransient(cause)
      reject(isOurs ? cause : new AppError('unavailable', reasonOf(cause), { cause, retryAfter: 1 }))
    }
    const late = () => {
      watch?.late()
      failed(new DeadlineError('the database did not answer in time'))
    }
    const entry = { until: performance.now() + QUERY_DEADLINE_MS, late }
    inFlight.add(entry)
    checking ??= setInterval(failLate, CHECK_EVERY_MS)
    running.then((value) => {
      inFlight.delete(entry)
      watch?.answered()
      resolve(value)
    }, failed)
  })

/** The connection itself broke; nothing more can be sent on it. */
const BROKEN = /^(CONNECTION_|ECONN|EPIPE|ETIMEDOUT|ERR_SOCKET)/

/**
 * Runs one transaction. If its connection breaks or its time runs out, postgres.js lets the body continue, and then sends `commit` or
 * `rollback` on a dead connection, which kills the process, or on one that serves another transaction by then. So from that moment the body
 * may send nothing, and it never ends; the database cleans up after its idle timeout.
 */
const transaction = <T>(pool: Pool, body: (sql: Sql) => Promise<T>): Promise<T> => {
  let over = false
  const stopIfOver = (): void => {
    if (over) throw new DeadlineError('the transaction has ended')
  }
  const guarded = (tx: postgres.TransactionSql): Sql =>
    new Proxy(tx, {
      apply(target, self, args) {
        stopIfOver()
        return Reflect.apply(target, self, args)
      },
    })
  const unended = () => new Promise<never>(() => {})
  const watch = pool.ask()
  const running = pool.sql.begin((tx) => {
    stopIfOver()
    return body(guarded(tx)).then(
      (result) => (over ? unended() : result),
      (cause) => (over || BROKEN.test(codeOf(cause)) ? unended() : Promise.reject(cause)),
    )
  })
  return withDeadline(running as Promise<T>, watch).finally(() => {
    over = true
  })
}

/** Options of a connection under a role, with further settings for its session. */
export const connectionAs = (
  role: PoolRole,
  { logins, onStatement: _, ...options }: ConnectionOptions,
  settings: Record<string, string | number>,
): ConnectionOptions & { connection: postgres.ConnectionParameters } => ({
  ...options,
  ...logins?.[role],
  connection: { ...(logins ? {} : { role }), ...settings } as unknown as postgres.ConnectionParameters,
})

/** `pool` is the name under which its statements are reported to `onStatement`. */
const open = (options: ConnectionOptions, role: PoolRole, max: number, pool?: Parameters<StatementWatch>[0]): postgres.Sql => {
  const { onStatement } = options
  return postgres({
    ...connectionAs(role, options, { application_name: 'tendril', ...SESSION_LIMITS, ...TIMES_AS_ISO }),
    max,
    connect_timeout: 3,
    idle_timeout: 60,
    // The default waits up to 20 s between attempts. Requests would wait too, even when the database is back.
    backoff: () => 0.1,
    onnotice: () => {},
    fetch_types: false,
    ...(onStatement && pool && { debug: (_, text) => onStatement(pool, text) }),
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String }, ...arrayTypes },
    // Missing from the type declarations. Without it the client degrades under load: its queue of busy connections never drains.
    ...({ max_pipeline: 1 } as object),
  })
}

/**
 * Wraps a query written without a tenant into one statement that sets the tenant first. The order is certain: the CTE is volatile, so it is
 * not inlined, the lateral subquery refers to it, and `offset 0` prevents flattening. If the order were ever lost, the result would be
 * empty. It is also empty if the caller's credential is no longer valid.
 */
export const withTenant = (sql: Sql, { tenantId, caller }: Reader, query: Fragment): Fragment => sql`
  with scope as materialized (select set_config('app.tenant', ${tenantId}, true) as ok)
  select r.* from scope cross join lateral (select q.* from (${query}) q where scope.ok is not null
    ${caller === undefined ? sql`` : sql`and (${hasValidCredential(sql, caller)})`} offset 0) r`

/**
 * Whether the key or session is valid, and its person has the same place in the workspace as before. Refers to `scope`, which sets the
 * tenant.
 */
export const hasValidCredential = (sql: Sql, { kind, id, member }: Principal): Fragment => {
  if (kind === 'system') return sql`select true`
  const sameMember = member
    ? sql`and exists (select 1 from member m where m.person_id = ${member.personId} and m.role = ${member.role})`
    : sql``
  const [table, person] = kind === 'key' ? [sql`api_key`, sql``] : [sql`session`, sql`and person_id = ${member?.personId ?? null}`]
  return sql`select count(*) = 1 from ${table} where id = ${id} and scope.ok is not null
        and revoked_at is null and (expires_at is null or expires_at > now()) ${person} ${sameMember}`
}

/** A row that any valid caller sees, since an empty result alone proves nothing. */
const one: Query = (sql) => sql`select 1 as seen`

/** Connections are granted to tenants round-robin: a tenant that floods delays only itself. */
const WAITING = { bound: 1_000, withinMs: 5_000 }
/** The share of the read connections that a tenant can use when it is alone. Among others it gets one at a time. */
const READ_SHARE = 0.3

/** Simultaneous transactions with the rights of `system`. */
const SYSTEM_TRANSACTIONS = 2

export const openDb = (options: ConnectionOptions): Db => {
  const max = options.max ?? 10
  const reads = openPool(() => open(options, 'tendril_app', max, 'reads'))
  // Separate pools: a transaction begun behind another query on a connection would not get that connection to itself.
  const letters = openPool(() => open(options, 'tendril_app', max, 'letters'))
  const system = openPool(() => open(options, 'tendril_system', 3))
  const systemTransactions = openPool(() => open(options, 'tendril_system', SYSTEM_TRANSACTIONS))
  const crowd = new Crowd()
  const readLimit = new FairLimit({ name: 'reads', limit: max, crowd, share: { alone: Math.ceil(max * READ_SHARE), among: 1 }, ...WAITING })
  const systemLimit = new FairLimit({ name: 'system', limit: SYSTEM_TRANSACTIONS, ...WAITING })
  const letterLimit = new FairLimit({ name: 'commands', limit: max, crowd, ...WAITING })
  return {
    async read<Row>(reader: Reader, query: Query) {
      const ask = async (as: Reader, query: Query) => (await withTenant(reads.sql, as, query(reads.sql)).execute()) as unknown as Row[]
      const checked = async () => {
        const rows = await ask(reader, query)
        if (rows.length === 0 && reader.caller !== undefined && (await ask(reader, one)).length === 0) throw new AppError('unauthenticated')
        return rows
      }
      // The wait for a turn counts. The turn ends with the query's deadline, because a query may never end.
      return withDeadline(readLimit.run(reader.tenantId, () => withDeadline(checked(), reads.ask())))
    },
    letter: (tenantId, body, demand) => letterLimit.run(tenantId, () => transaction(letters, body), demand),
    hurry: (tenantId) => letterLimit.hurry(tenantId),
    system: <T>(body: (sql: Sql) => Promise<T>) => withDeadline(body(system.sql), system.ask()),
    systemTransaction: (body) => systemLimit.run('', () => transaction(systemTransactions, body)),
    async [Symbol.asyncDispose]() {
      await Promise.all([reads, letters, system, systemTransactions].map((pool) => pool[Symbol.asyncDispose]()))
    },
  }
}

/** A dedicated long-lived connection, for a session lock. Disposing closes it; `onClose` reports that the database closed it. */
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
