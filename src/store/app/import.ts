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
  type Fragment,
  type Query,
  type Sql,
  sessionLimits,
  TIMES_AS_ISO,
} from '../engine/db.ts'
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

/**
 * Whether nothing of it has been erased: an erasure begins when the lease is over, and where it
 * fails, it notes the error and rests in the same way.
 */
const isBeingMade = (sql: Sql): Fragment =>
  sql`erasure_rests_until > clock_timestamp() and erasure_error is null`

const LOST = 'the import took too long or was ended by somebody else: nothing of it is kept'

/** Throws `conflict` if the workspace is not being made any more. */
export const renewImport = async (db: Db, id: string): Promise<void> => {
  const rows = await db.system(
    (sql) => sql`update tenant
      set erasure_rests_until = clock_timestamp() + ${IMPORT_LEASE_MS} * interval '1 millisecond'
      where id = ${id} and ${isBeingMade(sql)} returning id`,
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
      where id = ${id} and ${isBeingMade(tx)} returning id`
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

/**
 * Whether the workspace is one like others. A transaction that may yet finish it, though nobody
 * gets its answer any more, is waited for.
 */
export const isImported = async (db: Db, id: string): Promise<boolean> => {
  const [row] = await db.system(
    (sql) => sql<{ imported: boolean }>`select deletes_at is null as imported from tenant
      where id = ${id} for update`,
  )
  return row?.imported ?? false
}

const ROWS = 1_000

/** Removes what has been made so far; whatever is left, the sweep removes. */
export const abandonImport = async (db: Db, id: string): Promise<void> => {
  while (await eraseSome(db, id, ROWS));
}

/** Writes the rows of the workspace that is being made. */
export interface ImportSession extends AsyncDisposable {
  /** The statements of one transaction, which has the deadline of any query. */
  transaction<T>(body: (sql: Sql) => Promise<T>): Promise<T>
}

export const openImport = (options: ConnectionOptions, tenantId: string): ImportSession => {
  const sessions = openSessions(1, (onclose) =>
    postgres({
      ...connectionAs('tendril_app', options, {
        application_name: 'tendril-import',
        ...sessionLimits(options),
        ...TIMES_AS_ISO,
      }),
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
        const alive = await tx`select id from tenant where ${isBeingMade(tx)} for key share`
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

const UNIQUE_VIOLATION = '23505'

/** Whether somebody else has an id. Nothing but primary keys is unique over all workspaces. */
export const isTaken = (cause: unknown): boolean =>
  codeOf(cause) === UNIQUE_VIOLATION &&
  String((cause as { constraint_name?: unknown }).constraint_name).endsWith('_pkey')

/**
 * Whether a row is at fault: errors of the classes of values, of constraints, and of what is too
 * large, such as a row of an index.
 */
export const isRefusedRow = (cause: unknown): boolean =>
  /^(22|23|54)/.test(codeOf(cause)) && !isTaken(cause)

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
