/**
 * Postgres's own protocol for copying the files of a running cluster. Between `pg_backup_start` and
 * `pg_backup_stop` the files may be copied while they change; the write-ahead log of that time,
 * which a temporary replication slot keeps, makes them consistent at the next start. All of it
 * belongs to one session: however that ends, Postgres ends the backup and drops the slot.
 */
import { randomBytes } from 'node:crypto'
import type postgres from 'postgres'
import { fail } from '#kernel/errors'
import { type ConnectionOptions, withDeadline } from '../engine/db.ts'
import { asOwner } from '../engine/owner.ts'
import { openBackupSession, takeBackupLock } from './session.ts'
import { type BucketFile, storedFiles } from './stored-files.ts'

interface EndOfBackup {
  /** Whatever was committed before is in the backup. By the database's clock. */
  at: Date
  /** The text of the file `backup_label`, which the copy needs. */
  label: string
  /** The names of the first and the last file of the write-ahead log that the copy needs. */
  first: string
  last: string
}

/** Disposing without `stop` abandons the backup. Both give up the slot. */
export interface OnlineBackup extends AsyncDisposable {
  /** How many bytes of the write-ahead log the slot keeps from removal. */
  heldBytes(): Promise<number>
  /** The files in S3, as they are now. */
  storedFiles(): AsyncIterable<BucketFile[]>
  /** Call it when all data files are copied; copy the write-ahead log after that, then dispose. */
  stop(): Promise<EndOfBackup>
}

/** Undefined if another backup of the database runs. The signal ends the wait for its beginning. */
export const beginOnlineBackup = async (
  target: ConnectionOptions,
  signal?: AbortSignal,
): Promise<OnlineBackup | undefined> => {
  const sql = openBackupSession(target)
  const slot = `tendril_backup_${randomBytes(6).toString('hex')}`
  const dispose = async (): Promise<void> => {
    await Promise.race([
      sql`select pg_drop_replication_slot(${slot})`.catch(() => undefined),
      Bun.sleep(DROP_WITHIN_MS),
    ])
    await sql.end({ timeout: 5 })
  }
  try {
    if (!(await takeBackupLock(sql))) {
      await sql.end({ timeout: 5 })
      return undefined
    }
    await refuseTablespaces(sql)
    const [session] = await sql<{ pid: number }[]>`
      select pg_backend_pid() as pid, pg_create_physical_replication_slot(${slot}, true, true)`
    const begun = await begin(sql, () => cancel(target, session!.pid), signal)
    return {
      heldBytes: () => heldBy(sql, slot),
      storedFiles: () => storedFiles(sql),
      stop: () => stopAfter(sql, begun.first),
      [Symbol.asyncDispose]: dispose,
    }
  } catch (cause) {
    await dispose()
    throw cause
  }
}

const DROP_WITHIN_MS = 2_000
/** A disk that is busy takes a while for what is to be written before. */
const BEGIN_MS = 600_000

/** Waits for a checkpoint. */
const begin = async (
  sql: postgres.Sql,
  cancelled: () => void,
  signal: AbortSignal | undefined,
): Promise<{ first: string }> => {
  signal?.addEventListener('abort', cancelled)
  try {
    const beginning = sql<{ first: string }[]>`
      select pg_walfile_name(pg_backup_start('tendril', true)) as first`
    const [begun] = await withDeadline(beginning, undefined, performance.now() + BEGIN_MS)
    return begun!
  } finally {
    signal?.removeEventListener('abort', cancelled)
  }
}

/** A session that waits does not notice that its client has gone. */
const cancel = (target: ConnectionOptions, pid: number): void => {
  asOwner(target, (sql) => sql`select pg_cancel_backend(${pid})`).catch(() => {})
}

/** Their files lie outside of the data folder, which makes none by itself. */
const refuseTablespaces = async (sql: postgres.Sql): Promise<void> => {
  const [own] = await sql`select spcname from pg_tablespace
    where spcname not in ('pg_default', 'pg_global')`
  if (own)
    fail(
      'invalid_input',
      `the tablespace ${own.spcname} lies outside of the data folder: drop it first, or back up with --logical`,
    )
}

const heldBy = async (sql: postgres.Sql, slot: string): Promise<number> => {
  const [row] = await sql<{ bytes: string | null }[]>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) as bytes
    from pg_replication_slots where slot_name = ${slot}`
  if (row?.bytes == null) throw new Error('the database has dropped the slot of the backup')
  return Number(row.bytes)
}

const stopAfter = async (sql: postgres.Sql, first: string): Promise<EndOfBackup> => {
  const [before] = await sql<{ at: Date }[]>`select clock_timestamp() as at`
  const [stopped] = await sql<{ label: string; last: string }[]>`
    select labelfile as label, pg_walfile_name(lsn) as last from pg_backup_stop(false)`
  return { at: before!.at, label: stopped!.label, first, last: stopped!.last }
}
