/** API keys as their workspace sees them. keys.ts looks one up before the workspace is known. */
import { keyRecord } from '#contract/records/app/key'
import type { RowOf } from '#contract/records/record'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(keyRecord)

export type ListedKey = Required<RowOf<typeof keyRecord>>

/** Shows only the id of people who are no longer members. */
const columns = (sql: Sql): Fragment =>
  sql`${table.columns(sql, 'k')}, case when k.person_id is not null then
    jsonb_build_object('id', k.person_id,
      'email', (select p.email from person p where p.id = k.person_id)) end as person`

/** `of`: return only this person's keys. */
export const listKeys =
  ({ limit, after, of }: Page & { of?: string | undefined }): Query<ListedKey> =>
  (sql) =>
    sql`select ${columns(sql)} from api_key k where true ${after ? sql`and k.id < ${after}` : sql``}
      ${of ? sql`and k.person_id = ${of}` : sql``} order by k.id desc limit ${limit + 1}`

/** Locks the key until the letter ends. */
export const lockKey = async (sql: Sql, id: string): Promise<ListedKey | undefined> =>
  (
    await sql<ListedKey>`select ${columns(sql)} from api_key k where k.id = ${id} for update of k`
  )[0]

export interface LivingKey {
  id: string
  person_id: string | null
}

export const livingKeys =
  (most: number): Query<LivingKey> =>
  (sql) =>
    sql`select id, person_id from api_key where revoked_at is null
      and (expires_at is null or expires_at > clock_timestamp()) limit ${most}`

/** `person_id`: the owner; null for the workspace's own keys. */
export const addKey = (
  key: ListedKey,
  more: { tenant_id: string; hash: Buffer; person_id: string | null },
): Query => table.insert(key, more)

export const endKey =
  (id: string, now: Date): Query =>
  (sql) =>
    sql`update api_key set revoked_at = ${now} where id = ${id} and revoked_at is null`
