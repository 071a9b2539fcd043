/**
 * Makes a workspace of an archive. While it is made it is one whose erasure has begun: it has no
 * process and no people, nothing finds it, and unless the importer renews its lease, the sweep of
 * erasures removes it with all that is in it. Its rows are written with the rights of that
 * workspace alone, so whatever an archive names, they are nobody else's.
 */
import postgres from 'postgres'
import type { PlanName } from '#domain/app/plan'
import { fail } from '#kernel/errors'
import { arrayTypes } from '../engine/array-types.ts'
import { auditEntry } from '../engine/audit-entry.ts'
import {
  type ConnectionOptions,
  codeOf,
  connectionAs,
  type Db,
  type Query,
  type Sql,
  TIMES_AS_ISO,
} from '../engine/db.ts'
import type { NewWork } from '../engine/letter.ts'
import { operator } from '../engine/principal.ts'
import { openSessions } from '../engine/transaction.ts'
import { eraseSome } from './erasure.ts'

/** How long an importer may be silent. */
export const IMPORT_LEASE_MS = 120_000

export const beginImport = (
  db: Db,
  { id, name, plan }: { id: string; name: string; plan: PlanName },
): Promise<unknown> =>
  db.system(
    (sql) => sql`insert into tenant (id, name, plan, deletes_at, erasure_rests_until)
      values (${id}, ${name}, ${plan}, clock_timestamp(),
        clock_timestamp() + ${IMPORT_LEASE_MS} * interval '1 millisecond')`,
  )

const LOST = 'the import took too long or was ended by somebody else: nothing of it is kept'

/** Throws `conflict` if the workspace is not being made any more. */
export const renewImport = async (db: Db, id: string): Promise<void> => {
  const rows = await db.system(
    (sql) => sql`update tenant
      set erasure_rests_until = clock_timestamp() + ${IMPORT_LEASE_MS} * interval '1 millisecond'
      where id = ${id} and erasure_rests_until > clock_timestamp() returning id`,
  )
  if (rows.length === 0) fail('conflict', LOST, { reason: 'wrong_state' })
}

interface FinishedImport {
  id: string
  /** For the audit: which export it is. */
  detail: object
}

/** From here on the workspace is one like others. Throws `conflict` if it is not being made. */
export const finishImport = (db: Db, { id, detail }: FinishedImport): Promise<void> =>
  db.systemTransaction(async (tx) => {
    const rows = await tx`update tenant set deletes_at = null, erasure_rests_until = null
      where id = ${id} and erasure_rests_until > clock_timestamp() returning id`
    if (rows.length === 0) fail('conflict', LOST, { reason: 'wrong_state' })
    // What there is to do, such as reading documents, is found at once.
    await tx`insert into actor (tenant_id, wake_at) values (${id}, clock_timestamp())`
    await tx`select start_channels(${id})`
    await auditEntry(tx, {
      tenantId: id,
      actor: operator,
      surface: 'admin',
      operation: 'operator.workspace.import',
      detail,
    })
  })

const ROWS = 1_000

/** Removes what has been made so far; whatever is left, the sweep removes. */
export const abandonImport = async (db: Db, id: string): Promise<void> => {
  while (await eraseSome(db, id, ROWS));
}

export const hasWorkspace = async (db: Db, id: string): Promise<boolean> =>
  (await db.system((sql) => sql`select 1 from tenant where id = ${id}`)).length > 0

/** Writes the rows of the workspace that is being made. */
export interface ImportSession extends AsyncDisposable {
  /** The statements of one transaction. */
  transaction<T>(body: (sql: Sql) => Promise<T>): Promise<T>
}

const LIMITS = {
  application_name: 'tendril-import',
  statement_timeout: 60_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 60_000,
  ...TIMES_AS_ISO,
}

export const openImport = (options: ConnectionOptions, tenantId: string): ImportSession => {
  const sessions = openSessions(1, (onclose) =>
    postgres({
      ...connectionAs('tendril_app', options, LIMITS),
      max: 1,
      max_lifetime: null,
      connect_timeout: 10,
      fetch_types: false,
      onnotice: () => {},
      onclose,
      types: { bigint: { to: 20, from: [20], parse: Number, serialize: String }, ...arrayTypes },
    }),
  )
  return {
    transaction: (body) =>
      sessions.transaction(async (tx) => {
        await tx`select set_config('app.tenant', ${tenantId}, true)`
        // An erasure waits for this transaction, or has taken the row before.
        const alive = await tx`select id from tenant
          where erasure_rests_until > clock_timestamp() for key share`
        if (alive.length === 0) fail('conflict', LOST, { reason: 'wrong_state' })
        return await body(tx)
      }),
    [Symbol.asyncDispose]: () => sessions[Symbol.asyncDispose](),
  }
}

export interface ImportedRows {
  table: string
  rows: readonly Record<string, unknown>[]
  /** The columns by which those rows are known that were not there before; absent: all are new. */
  key?: readonly string[] | undefined
}

export const insertImported =
  ({ table, rows, key }: ImportedRows): Query =>
  (sql) => {
    const columns = sql(Object.keys(rows[0]!))
    const end = key === undefined ? sql`` : sql`on conflict do nothing returning ${sql(key)}`
    return sql`insert into ${sql(table)} (${columns})
      select ${columns} from jsonb_populate_recordset(null::${sql(table)}, ${sql.json(rows)}::jsonb)
      ${end}`
  }

export const insertNewWork =
  ({ id, lane, kind, key, refId, origin, runAt, payload = {} }: NewWork): Query =>
  (sql) =>
    sql`insert into work (id, lane, kind, concurrency_key, ref_id, origin, run_at, payload)
      values (${id}, ${lane}, ${kind}, ${key}, ${refId}, ${origin}, ${runAt}, ${sql.json(payload)})`

const UNIQUE_VIOLATION = '23505'

export const isTaken = (cause: unknown): boolean => codeOf(cause) === UNIQUE_VIOLATION

/** The class of errors that the values of a row have made, and the one of its constraints. */
export const isRefusedRow = (cause: unknown): boolean => /^2[23]/.test(codeOf(cause))

/**
 * Whether records of these ids can be made. Channels tell: their ids are unique over all
 * workspaces, every workspace has channels, and none is ever deleted but with its workspace.
 */
export const areChannelsFree = async (
  session: ImportSession,
  ids: readonly string[],
): Promise<boolean> => {
  try {
    await session.transaction(async (sql) => {
      await sql`insert into growth_channel (id, name, status, created_at, updated_at)
        select id, id::text, 'inactive', now(), now() from unnest(${[...ids]}::uuid[]) id`
      await sql`delete from growth_channel`
    })
    return true
  } catch (cause) {
    if (isTaken(cause)) return false
    throw cause
  }
}
