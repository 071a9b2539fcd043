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
  const sql = postgres({
    ...options,
    max: 1,
    max_lifetime: null,
    idle_timeout: 0,
    connect_timeout: 10,
    fetch_types: false,
    onnotice: () => {},
    onclose: () => void sql.end({ timeout: 0 }),
    connection: SETTINGS as unknown as postgres.ConnectionParameters,
  })
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
