/** API keys as their workspace sees them. keys.ts looks one up before the workspace is known. */
import type { Scope } from '#kernel/scopes'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import type { Page } from '../engine/page.ts'

export interface ListedKey {
  id: string
  name: string
  last4: string
  scopes: Scope[]
  /** The owner; null for the workspace's own keys. */
  person: { id: string; email: string | null } | null
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

/** Shows nothing but the id of people who are no longer members. */
const columns = (
  sql: Sql,
): Fragment => sql`k.id, k.name, k.last4, k.scopes, k.created_at, k.expires_at, k.revoked_at,
  k.last_used_at,
  case when k.person_id is not null then jsonb_build_object('id', k.person_id,
    'email', (select p.email from person p where p.id = k.person_id)) end as person`

/** `of`: only this person's keys. */
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

export interface NewWorkspaceKey {
  id: string
  tenantId: string
  name: string
  hash: Buffer
  last4: string
  scopes: Scope[]
  personId: string | null
  expiresAt: Date | null
  now: Date
}

export const addKey =
  (key: NewWorkspaceKey): Query =>
  (sql) =>
    sql`insert into api_key (id, tenant_id, name, hash, last4, scopes, person_id, created_at,
      expires_at)
      values (${key.id}, ${key.tenantId}, ${key.name}, ${key.hash}, ${key.last4}, ${key.scopes},
        ${key.personId}, ${key.now}, ${key.expiresAt})`

export const endKey =
  (id: string, now: Date): Query =>
  (sql) =>
    sql`update api_key set revoked_at = ${now} where id = ${id} and revoked_at is null`
