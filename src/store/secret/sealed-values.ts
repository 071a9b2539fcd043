/**
 * Everything that is sealed in rows, and how it is sealed anew when the secret key is rotated. What
 * a table lacks here does not compile, and a column that is missing fails a test.
 */
import { type SealedRow, type SealedTable, type Sealer, sealedUnder } from '#kernel/sealer'
import { channelCredentialsRow } from '../agent/channel-connections.ts'
import { replySecretRow } from '../agent/channel-replies.ts'
import { mcpSecretRow } from '../agent/mcp-servers.ts'
import { ruleSecretRow } from '../agent/webhook-rules.ts'
import { authorizationRow } from '../app/authorizations.ts'
import { secretRow } from '../app/webhooks.ts'
import { answerRow } from '../engine/idempotency.ts'
import type { Fragment, Sql } from '../engine/sql.ts'
import { credentialsRow } from '../growth/connections.ts'
import { deploymentSecretRow } from './deployment-secrets.ts'

/** A column with sealed values. */
export interface SealedColumn {
  table: SealedTable
  column: string
  /** What names a row within its workspace. */
  key: { column: string; type: 'uuid' | 'text' }
  /** What the values of a row are bound to. */
  row(key: string, tenantId: string): SealedRow
  /** `base64`: the column also has other texts, none of which begins like sealed ones. */
  form: 'bytes' | 'base64'
}

type Kept = Omit<SealedColumn, 'table' | 'column'>

const bytes = { form: 'bytes', key: { column: 'id', type: 'uuid' } } as const

const endpoint: Kept = {
  form: 'bytes',
  key: { column: 'tenant_id', type: 'uuid' },
  row: (_, tenantId) => secretRow(tenantId),
}

const connection: Kept = {
  form: 'base64',
  key: { column: 'id', type: 'uuid' },
  row: credentialsRow,
}

type Own = 'deployment_secret'

const columns: Record<Exclude<SealedTable, Own>, Record<string, Kept>> = {
  webhook_endpoint: { secret: endpoint, previous_secret: endpoint },
  webhook_rule: { secret: { ...bytes, row: ruleSecretRow } },
  mcp_server: {
    headers: { ...bytes, row: (id) => mcpSecretRow(id, 'headers') },
    env: { ...bytes, row: (id) => mcpSecretRow(id, 'env') },
  },
  account_authorization: { secrets: { ...bytes, row: authorizationRow } },
  connection: { credentials: connection },
  channel_connection: { credentials: { ...bytes, row: channelCredentialsRow } },
  channel_reply: { secret: { ...bytes, row: replySecretRow } },
  idempotency: {
    body: {
      form: 'base64',
      key: { column: 'key', type: 'text' },
      row: (key, tenantId) => answerRow(tenantId, key),
    },
  },
}

export const sealedValues: readonly SealedColumn[] = Object.entries(columns).flatMap(
  ([table, of]) =>
    Object.entries(of).map(([column, kept]) => ({
      ...kept,
      table: table as SealedTable,
      column,
    })),
)

/** The same, of the deployment itself. */
export const ownSealedValues: readonly (SealedColumn & { table: Own })[] = [
  {
    table: 'deployment_secret',
    column: 'sealed',
    form: 'bytes',
    key: { column: 'name', type: 'text' },
    row: deploymentSecretRow,
  },
]

/** In place of a workspace: what belongs to none. */
export const DEPLOYMENT = 'the deployment'

export const sealedIn = (place: string): readonly SealedColumn[] =>
  place === DEPLOYMENT ? ownSealedValues : sealedValues

/**
 * Bodies of other answers are JSON, or zstd in base64. Only sealed ones begin with a byte that is
 * the version of a sealed value: 1 or 2.
 */
const isSealedText = (sql: Sql, column: string): Fragment => sql`${sql(column)} ~ '^A[Q-Za-v]'`

/** The rows of a workspace with a value that is sealed under any other key. */
const underOthers = (sql: Sql, { column, form }: SealedColumn, fingerprint: string): Fragment => {
  const prefix = sealedUnder(fingerprint)
  return form === 'bytes'
    ? sql`${sql(column)} is not null and substring(${sql(column)} from 1 for ${prefix.length}) <> ${prefix}`
    : sql`${isSealedText(sql, column)} and not starts_with(${sql(column)}, ${prefix.toString('base64')})`
}

/** The rows of a workspace with a value that names this key, or that names none. */
const underOrUnnamed = (
  sql: Sql,
  { column, form }: SealedColumn,
  fingerprint: string,
): Fragment => {
  const prefix = sealedUnder(fingerprint)
  return form === 'bytes'
    ? sql`(substring(${sql(column)} from 1 for ${prefix.length}) = ${prefix}
        or substring(${sql(column)} from 1 for 1) = '\\x01')`
    : sql`(starts_with(${sql(column)}, ${prefix.toString('base64')})
        or ${sql(column)} ~ '^A[Q-Za-f]')`
}

type Choice = typeof underOthers

type Counting = (sql: Sql, place: string, fingerprint: string) => Promise<Record<string, number>>

/**
 * How many values of a workspace, or of the deployment, are sealed under other keys, by
 * `table.column`.
 */
export const countUnderOthers: Counting = (sql, place, fingerprint) =>
  countBy(sql, { place, choice: underOthers, fingerprint })

/** How many may need this key, because they name it, or none. */
export const countUnder: Counting = (sql, place, fingerprint) =>
  countBy(sql, { place, choice: underOrUnnamed, fingerprint })

const countBy = async (
  sql: Sql,
  { place, choice, fingerprint }: { place: string; choice: Choice; fingerprint: string },
): Promise<Record<string, number>> => {
  const all = sealedIn(place)
  const parts = all.map(
    (one, at) => sql`${sql.raw(at === 0 ? '' : 'union all')}
      select ${at}::int as at, count(*)::int as values from ${sql(one.table)}
        where ${choice(sql, one, fingerprint)}`,
  )
  const rows = await sql<{ at: number; values: number }>`${parts}`
  return Object.fromEntries(
    rows.flatMap(({ at, values }) => (values > 0 ? [[nameOf(all[at]!), values]] : [])),
  )
}

export const nameOf = ({ table, column }: SealedColumn): string => `${table}.${column}`

interface Batch {
  fingerprint: string
  tenantId: string
  /** The key of the last row of the batch before. */
  after: string | null
  limit: number
}

interface Resealed {
  /** The key of its last row; null if no more rows come. */
  last: string | null
  resealed: number
  /** Values that no known key opens. They stay as they are. */
  unreadable: number
}

/**
 * Seals some values of the current workspace under the newest key. A value that somebody has
 * replaced meanwhile stays.
 */
export const resealBatch = async (
  sql: Sql,
  sealed: SealedColumn,
  sealer: Sealer,
  { fingerprint, tenantId, after, limit }: Batch,
): Promise<Resealed> => {
  const { table, column, key, form, row } = sealed
  const isText = form === 'base64'
  const from = after === null ? sql`` : sql`and ${sql(key.column)} > ${after}::${sql.raw(key.type)}`
  const rows = await sql<{ key: string; value: Buffer | string }>`
    select ${sql(key.column)}::text as key, ${sql(column)} as value from ${sql(table)}
      where ${underOthers(sql, sealed, fingerprint)} ${from}
      order by ${sql(key.column)} limit ${limit}`
  let [resealed, unreadable] = [0, 0]
  for (const { key: id, value } of rows) {
    const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : value
    const fresh = resealedOf(sealer, bytes, row(id, tenantId))
    if (!fresh) unreadable++
    else {
      const next = isText ? fresh.toString('base64') : fresh
      await sql`update ${sql(table)} set ${sql(column)} = ${next}
        where ${sql(key.column)} = ${id}::${sql.raw(key.type)} and ${sql(column)} = ${value}`
      resealed++
    }
  }
  return { last: rows.length < limit ? null : rows.at(-1)!.key, resealed, unreadable }
}

const resealedOf = (sealer: Sealer, bytes: Buffer, row: SealedRow): Buffer | undefined => {
  let text: string
  try {
    text = sealer.open(bytes, row)
  } catch {
    return undefined
  }
  return sealer.seal(text, row)
}
