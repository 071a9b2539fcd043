/** The session of a backup or a restore: one connection, which may be at it for hours. */
import postgres from 'postgres'
import { type ConnectionOptions, codeOf, TIMES_AS_ISO, withDeadline } from '../engine/db.ts'
import { BACKUP_LOCK } from './lock.ts'

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
/** A process of which nothing is known for so many looks is as good as gone. */
const MOST_UNANSWERED = 6

/** The process of the database that serves a session. */
interface Backend {
  pid: number
  /** When the database was started, by which it differs from itself after a restart. */
  started: string
}

const STARTED = 'extract(epoch from pg_postmaster_start_time())::text'

/**
 * What is known of a session's process. A database that has no room for a further connection is
 * there, so that the process may be too. Any other error says nothing of the process, and neither
 * does a database that was started at another time: it may be another server at the same address.
 */
type Sight = 'there' | 'gone' | 'unknown'

/** SQLSTATE class 53, such as `too_many_connections`. */
const isRefusedForRoom = (cause: unknown): boolean =>
  [cause, (cause as Error | null)?.cause].some((one) => codeOf(one).startsWith('53'))

/** Asks by a connection of its own. */
export const lookAtBackend = async (
  options: ConnectionOptions,
  { pid, started }: Backend,
): Promise<Sight> => {
  const sql = postgres({ ...options, max: 1, connect_timeout: LOOK_WITHIN_MS / 1_000 })
  try {
    const asked = sql<{ same: boolean; serves: boolean }[]>`
      select ${sql.unsafe(STARTED)} = ${started} as same,
        exists (select from pg_stat_activity where pid = ${pid}) as serves`
    const [found] = await withDeadline(asked, undefined, performance.now() + LOOK_WITHIN_MS)
    if (!found!.same) return 'unknown'
    return found!.serves ? 'there' : 'gone'
  } catch (cause) {
    return isRefusedForRoom(cause) ? 'there' : 'unknown'
  } finally {
    await sql.end({ timeout: 0 })
  }
}

const unansweredAfter = (sight: Sight, before: number): number =>
  ({ there: 0, gone: MOST_UNANSWERED, unknown: before + 1 })[sight]

/**
 * Calls `lost` once the session's process in the database has gone. A client that sends a statement
 * as the database closes the connection may never hear of that, and would wait for ever.
 */
const watchSession = (
  options: ConnectionOptions,
  backend: Backend,
  lost: () => void,
): Disposable => {
  let unanswered = 0
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    unanswered = unansweredAfter(await lookAtBackend(options, backend), unanswered)
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
  const begin = ([row]: Backend[]) => {
    watch = watchSession(common, row!, lose)
  }
  // Where this fails, so does whatever follows it.
  sql<Backend[]>`
    select pg_backend_pid() as pid, ${sql.unsafe(STARTED)} as started`.then(begin, () => {})
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
