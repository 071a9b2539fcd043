import type { RatePlan } from '#domain/app/rates'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'
import { changeAsOperator } from '../engine/audit-entry.ts'
import type { Db, Fragment, Sql } from '../engine/db.ts'
import type { Member, Principal } from '../engine/principal.ts'

/**
 * The rights of a key. It can be cached by hash, because every statement checks that the key is
 * still valid.
 */
export interface KeyGrant {
  id: string
  tenantId: string
  scopes: Scope[]
  /** The member who owns the key; absent for the workspace's own keys. */
  member?: Member
  name: string
  /** The workspace's plan when the key was looked up. */
  plan: RatePlan
}

interface KeyRow {
  id: string
  tenant_id: string
  name: string
  scopes: Scope[]
  person_id: string | null
  role: Role | null
  plan: RatePlan['plan']
  overrides: RatePlan['overrides']
}

const grantOf = (row: KeyRow): KeyGrant => {
  const member =
    row.person_id !== null && row.role !== null
      ? { member: { personId: row.person_id, role: row.role } }
      : {}
  const plan = { plan: row.plan, overrides: row.overrides }
  const { id, tenant_id: tenantId, name, scopes } = row
  return { id, tenantId, name, scopes, plan, ...member }
}

/** Keys that are valid. A key of a person who is no longer a member is not. */
const validKeys = (
  sql: Sql,
  which: Fragment,
) => sql<KeyRow>`select k.id, k.tenant_id, k.name, k.scopes, k.person_id, m.role, t.plan, t.overrides
  from api_key k join tenant t on t.id = k.tenant_id left join member m on m.tenant_id = k.tenant_id
    and m.person_id = k.person_id
  where ${which} and k.revoked_at is null and (k.expires_at is null
    or k.expires_at > clock_timestamp())
    and (k.person_id is null or m.role is not null)`

export const findKey = async (db: Db, hash: Buffer): Promise<KeyGrant | undefined> => {
  const [row] = await db.system((sql) => validKeys(sql, sql`k.hash = ${hash}`))
  return row && grantOf(row)
}

/** The rights of these keys, as of now. Leaves out revoked and expired keys. */
export const findKeys = async (db: Db, ids: string[]): Promise<Map<string, KeyGrant>> => {
  const rows = await db.system((sql) => validKeys(sql, sql`k.id = any(${ids}::uuid[])`))
  return new Map(rows.map((row) => [row.id, grantOf(row)]))
}

/**
 * The scopes of a workspace's own key, as of now. Throws `unauthenticated` if it is no longer
 * valid.
 */
export const scopesNow = async (
  db: Db,
  { tenantId, id }: { tenantId: string; id: string },
): Promise<Scope[]> => {
  const [row] = await db.read<{ scopes: Scope[] }>(
    { tenantId, caller: { kind: 'key', id } },
    (sql) => sql`select scopes from api_key where id = ${id}`,
  )
  return row?.scopes ?? []
}

/** Whether a key is still neither revoked nor expired. */
export const keyLives = async (db: Db, { id }: Pick<Principal, 'id'>): Promise<boolean> => {
  const rows = await db.system(
    (sql) =>
      sql`select 1 from api_key where id = ${id} and revoked_at is null
        and (expires_at is null or expires_at > clock_timestamp())`,
  )
  return rows.length === 1
}

export const insertKey = async (
  db: Db,
  key: { tenantId: string; name: string; hash: Buffer; last4: string; scopes: Scope[] },
): Promise<string | undefined> => {
  const id = newId()
  const { name, last4, scopes } = key
  const made = await changeAsOperator(
    db,
    { operation: 'operator.keys.create', detail: { name, last4, scopes } },
    (sql) => sql`insert into api_key (id, tenant_id, name, hash, last4, scopes)
      select ${id}, t.id, ${name}, ${key.hash}, ${last4}, ${scopes} from tenant t
        where t.id = ${key.tenantId} returning tenant_id, id as ref_id`,
  )
  return made === 1 ? id : undefined
}

/**
 * Returns the workspace of the key; undefined if there is no such key. Revoking it again changes
 * nothing, and leaves no audit row.
 */
export const revokeKey = async (db: Db, id: string): Promise<string | undefined> => {
  await changeAsOperator(
    db,
    { operation: 'operator.keys.revoke', detail: {} },
    (sql) =>
      sql`update api_key set revoked_at = clock_timestamp() where id = ${id}
        and revoked_at is null returning tenant_id, id as ref_id`,
  )
  const [row] = await db.system(
    (sql) => sql<{ tenant_id: string }>`select tenant_id from api_key where id = ${id}`,
  )
  return row?.tenant_id
}

/** Records when keys were last used. Writing many at once saves a statement for each request. */
export const touchKeys = (db: Db, ids: string[]): Promise<unknown> =>
  db.system(
    (sql) =>
      sql`update api_key set last_used_at = clock_timestamp() where id = any(${ids}::uuid[])`,
  )
