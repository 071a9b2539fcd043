import { connectionRecord } from '#contract/records/growth/connection'
import type { Connection } from '#domain/growth/sending/connection'
import { type Choice, MOST_NAMED } from '#domain/growth/sending/not-connected'
import type { SealedRow } from '#kernel/sealer'
import { type PlanRow, planOfWorkspace } from '../app/workspace.ts'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one } from '../engine/load.ts'
import type { RecordId } from '../engine/next-due.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'
import { writing } from '../engine/sql.ts'

const table = tableOf(connectionRecord)
export const { columns: connectionColumns, times: connectionTimes } = table

export const listConnections =
  ({ limit, after }: Page): Query<Connection> =>
  (sql) =>
    sql`select ${connectionColumns(sql)} from connection
      where status <> 'disconnected' ${after ? sql`and id < ${after}` : sql``} order by id desc
      limit ${limit + 1}`

export const defaultConnection: Query<Connection> = (sql) =>
  sql`select ${connectionColumns(sql)} from connection where is_default and status = 'connected'`

/**
 * The connected accounts that an error can name, and one more, which shows that there are others.
 * `but`: an account that is being disconnected.
 */
export const choicesBut =
  (but: string | null): Query<Choice> =>
  (sql) =>
    sql`select id, network, handle from connection where status = 'connected'
      and id is distinct from ${but}::uuid
        order by is_default desc, id limit ${MOST_NAMED + 1}`

export const choicesPart = many<Choice>({}, choicesBut(null))

/**
 * The default account, with the figures that its budgets depend on. If there is none, its fields
 * are null and `choices` has the accounts that there are.
 */
export type ConnectionRow = PlanRow & { choices: Choice[] | null } & (
    | Connection
    | { [K in keyof Connection]: null }
  )

export const connectionOverview: Query<ConnectionRow> = (sql) =>
  sql`select p.*, c.*, case when c.id is null then (select json_agg(row_to_json(o))
    from (${choicesBut(null)(sql)}) o) end as choices
      from (${planOfWorkspace(sql)}) p left join (${defaultConnection(sql)}) c on true`

export const currentDefault = async (sql: Sql): Promise<Connection | undefined> =>
  (await defaultConnection(sql))[0]

/** The connected account with this network id; for null, the default account. */
export const accountFor = async (
  sql: Sql,
  externalId: string | null,
): Promise<Connection | undefined> =>
  externalId === null
    ? currentDefault(sql)
    : (
        await sql<Connection>`select ${connectionColumns(sql)} from connection
          where external_id = ${externalId} and status = 'connected'`
      )[0]

/** The network's id of the default account, as an expression. Null if there is none. */
export const defaultAccountId = (sql: Sql): Fragment =>
  sql`(select c.external_id from connection c where c.is_default and c.status = 'connected')`

/** Looks an account up by the network's id, connected or not. */
export const accountNamed = async (
  sql: Sql,
  { network, externalId }: { network: string; externalId: string },
): Promise<Connection | undefined> =>
  (
    await sql<Connection>`select ${connectionColumns(sql)} from connection
      where network = ${network} and external_id = ${externalId}`
  )[0]

/** The handle of an account, connected or not, by the network's id. */
export const handleOf = async (sql: Sql, externalId: string): Promise<string | undefined> =>
  (
    await sql<{
      handle: string
    }>`select handle from connection where external_id = ${externalId} limit 1`
  )[0]?.handle

/** The network's ids of the connected accounts there. */
export const connectedOn = async (sql: Sql, network: string): Promise<Set<string>> => {
  const rows = await sql<{
    external_id: string
  }>`select external_id from connection where network = ${network} and status = 'connected'`
  return new Set(rows.map(({ external_id }) => external_id))
}

export const countConnected = async (sql: Sql): Promise<number> =>
  (
    await sql<{
      count: number
    }>`select count(*)::int as count from connection where status = 'connected'`
  )[0]!.count

export const connectionById =
  (id: string): Query<Connection> =>
  (sql) =>
    sql`select ${connectionColumns(sql)} from connection where id = ${id}`

export const connectionPart = (id: string) => one<Connection>(connectionTimes, connectionById(id))

/** The default account. */
export const defaultPart = one<Connection>(connectionTimes, defaultConnection)

/**
 * The account from which an item is to go out: the one that a person chose for it, connected or
 * not, or the default one.
 */
export const accountOfItem = (id: RecordId) =>
  one<Connection>(connectionTimes, (sql) => {
    const chosen = sql`(select account_id from item where id = ${id})`
    return sql`select ${connectionColumns(sql)} from connection
      where case when ${chosen} is null then is_default and status = 'connected'
        else id = ${chosen} end`
  })

/**
 * Connects an account, or reconnects it under its old id. The first connected account becomes the
 * default.
 */
export const upsertConnection = (connection: Connection): Query =>
  table.insert(
    connection,
    {},
    (sql) => sql`on conflict (tenant_id, network, external_id) do update
        set handle = excluded.handle, display_name = excluded.display_name, status = 'connected',
          status_reason = null, credentials = excluded.credentials,
          is_default = excluded.is_default, updated_at = excluded.updated_at`,
  )

export const disconnect =
  (id: string, now: Date): Query =>
  (sql) =>
    sql`update connection set status = 'disconnected', status_reason = null, is_default = false,
      updated_at = ${now} where id = ${id}`

interface Lost {
  status: Exclude<Connection['status'], 'connected' | 'disconnected'>
  /** For people. */
  reason: string
}

/** The network no longer takes what the account was connected with. It stays the default. */
export const markAccountLost =
  (id: string, { status, reason }: Lost, now: Date): Query =>
  (sql) =>
    sql`update connection set status = ${status}, status_reason = ${reason}, updated_at = ${now}
      where id = ${id} and status = 'connected'`

/** Whether the account with this network id, or the default one, waits for a person to sign in. */
export const needsSignIn = async (sql: Sql, externalId: string | null): Promise<boolean> =>
  (
    await sql`select from connection where status = 'needs_reauth'
      and case when ${externalId}::text is null then is_default
        else external_id = ${externalId} end limit 1`
  ).length > 0

/** `reason`: what cannot be read for the account, for people; null: nothing is missing. */
export const saveReadingReason = (id: string, reason: string | null, now: Date): Query =>
  writing(
    { table: 'connection', rows: [{ id }] },
    (sql) =>
      sql`update connection set reading_reason = ${reason}, updated_at = ${now} where id = ${id}`,
  )

/** `credentials`: sealed, in base64; null erases them. */
export const saveCredentials =
  (id: string, credentials: string | null): Query =>
  (sql) =>
    sql`update connection set credentials = ${credentials} where id = ${id}`

/** The row that credentials are sealed for. */
export const credentialsRow = (id: string): SealedRow => `connection/${id}/credentials`

/** One statement moves the mark, so there is never more than one default. */
export const makeDefault =
  (id: string, now: Date): Query =>
  (sql) =>
    sql`update connection set is_default = (id = ${id}), updated_at = ${now} where is_default
      or id = ${id}`
