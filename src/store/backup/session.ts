/** The session of a backup or a restore: one connection, which may be at it for hours. */
import postgres from 'postgres'
import { type ConnectionOptions, TIMES_AS_ISO } from '../engine/db.ts'

/** One backup or restore of a database runs at a time, of whatever kind. Any constant will do. */
const BACKUP_LOCK = 7_164_014

const SETTINGS = {
  application_name: 'tendril-backup',
  client_encoding: 'UTF8',
  statement_timeout: 0,
  idle_in_transaction_session_timeout: 0,
  tcp_keepalives_idle: 30,
  ...TIMES_AS_ISO,
}

const LOOK_EVERY_MS = 5_000
const LOOK_WITHIN_MS = 10_000
/** A database that answers nobody for so many looks is as good as gone. */
const MOST_UNANSWERED = 6

type Options = postgres.Options<Record<string, never>>

/** Whether the process of the database that serves a session is still there. */
const isServed = async (options: Options, pid: number): Promise<boolean> => {
  const sql = postgres({ ...options, max: 1, connect_timeout: LOOK_WITHIN_MS / 1_000 })
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no answer')), LOOK_WITHIN_MS)
  try {
    const asked = sql`select from pg_stat_activity where pid = ${pid}`
    return (await Promise.race([asked, late.promise])).length > 0
  } finally {
    clearTimeout(timer)
    await sql.end({ timeout: 0 })
  }
}

/**
 * Calls `lost` once the session's process in the database has gone. A client that sends a statement
 * as the database closes the connection may never hear of that, and would wait for ever.
 */
const watchSession = (options: Options, pid: number, lost: () => void): Disposable => {
  let unanswered = 0
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    try {
      unanswered = (await isServed(options, pid)) ? 0 : MOST_UNANSWERED
    } catch {
      unanswered++
    }
    isLooking = false
    if (unanswered >= MOST_UNANSWERED) lost()
  }
  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * The slot, the snapshot and the transaction of a backup end with its connection. The client would
 * open another one, where none of them are, so that one connection is all that it gets: once that
 * is lost, every statement fails.
 */
export const openBackupSession = ({
  logins: _,
  onStatement: __,
  patience: ___,
  version: ____,
  ...options
}: ConnectionOptions): postgres.Sql => {
  let watch: Disposable | undefined
  const lose = () => {
    watch?.[Symbol.dispose]()
    void sql.end({ timeout: 0 })
  }
  const common = { ...options, fetch_types: false, onnotice: () => {} }
  const sql = postgres({
    ...common,
    max: 1,
    max_lifetime: null,
    idle_timeout: 0,
    connect_timeout: 10,
    onclose: lose,
    connection: SETTINGS as unknown as postgres.ConnectionParameters,
  })
  const begin = ([row]: { pid: number }[]) => {
    watch = watchSession(common, row!.pid, lose)
  }
  // Where this fails, so does whatever follows it.
  sql<{ pid: number }[]>`select pg_backend_pid() as pid`.then(begin, () => {})
  return sql
}

/** From here on, a table whose rows a policy hides is an error, and never an empty one. */
export const refuseHiddenRows = (sql: postgres.Sql): PromiseLike<unknown> =>
  sql`set row_security = off`

/** Held until the session ends. False if another one has it. */
export const takeBackupLock = async (sql: postgres.Sql): Promise<boolean> => {
  const [row] = await sql<{ taken: boolean }[]>`
    select pg_try_advisory_lock(${BACKUP_LOCK}) as taken`
  return row!.taken
}
