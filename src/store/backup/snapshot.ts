/** All rows of a database as they were at one moment. */
import type { Readable } from 'node:stream'
import { fail } from '#kernel/errors'
import type { SecretKey } from '#kernel/secret'
import type { SecretKeys } from '#kernel/secret-keys'
import { fittingKeys } from '../engine/canary.ts'
import type { ConnectionOptions } from '../engine/db.ts'
import { openBackupSession, refuseHiddenRows, takeBackupLock } from './session.ts'
import { type BucketFile, storedFiles } from './stored-files.ts'
import {
  type BackupTable,
  backupTables,
  countRows,
  databaseSize,
  refuseForeign,
  type SequenceValue,
  sequenceValues,
} from './tables.ts'

export interface DatabaseSnapshot extends AsyncDisposable {
  /** Every command that was acknowledged before is in it. By the database's clock. */
  at: Date
  bytes: number
  tables: BackupTable[]
  /** Which of these keys it uses: what is sealed in it is of that moment too. */
  keys(known: readonly SecretKey[]): Promise<SecretKeys>
  /** The rows in the form of COPY. */
  rows(table: BackupTable): Promise<AsyncIterable<Uint8Array>>
  count(table: BackupTable): Promise<number>
  sequences(): Promise<SequenceValue[]>
  /** The files in S3. */
  storedFiles(): AsyncIterable<BucketFile[]>
}

const noRole = (role: string): string =>
  `the role ${role} does not see all rows, because row-level security binds it: let a superuser run "alter role ${role} bypassrls", or set BACKUP_DATABASE_URL to a role that has it, and that is a member of pg_read_all_data`

/**
 * The client stops reading from its socket while much of a stream waits to be read. It goes on when
 * the stream asks for more, which one does not whose end is there already: the answer to the next
 * statement would never be read.
 */
async function* toTheirEnd(rows: Readable): AsyncGenerator<Uint8Array> {
  yield* rows
  try {
    rows._read(0)
  } catch {
    // The connection has gone. The next statement says so.
  }
}

/** Undefined if another backup of the database runs. Throws if the role does not see all rows. */
export const openSnapshot = async (
  options: ConnectionOptions,
): Promise<DatabaseSnapshot | undefined> => {
  const sql = openBackupSession(options)
  const dispose = () => sql.end({ timeout: 5 })
  try {
    const [role] = await sql<{ name: string; sees: boolean }[]>`
      select rolname as name, rolsuper or rolbypassrls as sees from pg_roles
      where rolname = current_user`
    if (!role!.sees) fail('forbidden', noRole(role!.name))
    if (!(await takeBackupLock(sql))) {
      await dispose()
      return undefined
    }
    await refuseHiddenRows(sql)
    const [before] = await sql<{ at: string }[]>`select clock_timestamp()::text as at`
    await sql.unsafe('begin isolation level repeatable read read only')
    // The first statement takes the snapshot.
    const tables = await backupTables(sql)
    await refuseForeign(sql)
    return {
      at: new Date(before!.at),
      bytes: await databaseSize(sql),
      tables,
      keys: (known) => fittingKeys(sql, known),
      rows: async ({ name, columns }) => {
        const query = sql.unsafe(`copy ${name} (${columns.join(', ')}) to stdout`)
        return toTheirEnd((await query.readable()) as Readable)
      },
      count: (table) => countRows(sql, table),
      sequences: () => sequenceValues(sql),
      storedFiles: () => storedFiles(sql),
      [Symbol.asyncDispose]: dispose,
    }
  } catch (cause) {
    await dispose()
    throw cause
  }
}
