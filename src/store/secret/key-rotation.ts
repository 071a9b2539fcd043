/**
 * The rotation of the secret key, as the database knows it. All of this is for the role that owns
 * the tables, which can switch to the roles of the pools.
 */
import type { KeyedNode } from '#domain/app/key-rotation'
import { canaryOf, type SecretKey } from '#kernel/secret'
import type { SecretKeyRow } from '#kernel/secret-keys'
import { BACKUP_LOCK } from '../backup/lock.ts'
import type { Sql } from '../engine/sql.ts'

export interface KeyStanding extends SecretKeyRow {
  since: Date
  /** Since when nothing is made under another key. Null until that is known. */
  settled_at: Date | null
  sealed_at: Date | null
}

/** Any constant will do. */
const ROTATION_LOCK = 7_164_018

/** Serialises those who change which keys there are, until the transaction ends. */
export const lockRotation = async (sql: Sql): Promise<void> => {
  await sql`set local lock_timeout = '5s'`
  await sql`select pg_advisory_xact_lock(${ROTATION_LOCK})`
}

/** Keeps backups from beginning until the transaction ends. False while one is made. */
export const excludeBackups = async (sql: Sql): Promise<boolean> => {
  const [row] = await sql<{ taken: boolean }>`
    select pg_try_advisory_xact_lock(${BACKUP_LOCK}) as taken`
  return row!.taken
}

/** Until the transaction ends, no process joins, leaves or renews its lease. */
export const lockNodes = async (sql: Sql): Promise<void> => {
  await sql`lock table node in share mode`
}

/** Empty if the key was never rotated. */
export const readKeys = async (sql: Sql): Promise<KeyStanding[]> =>
  await sql<KeyStanding>`select fingerprint, state, sealed_at is not null as sealed, since, settled_at,
    sealed_at from secret_key order by since, fingerprint`

/**
 * The living processes, and which keys they use. `settledMs`: what a process had begun to make
 * under its last key is stored by then.
 */
export const keyedNodes = async (sql: Sql, settledMs: number): Promise<KeyedNode[]> => {
  await sql`set local role tendril_system`
  const nodes = await sql<KeyedNode>`select incarnation as id, url, secret_keys as known,
      seals_with as newest, login_key as login,
      coalesce(seals_since <= clock_timestamp() - ${settledMs} * interval '1 millisecond', false)
        as settled
    from node where expires_at > clock_timestamp() order by started_at`
  await sql`reset role`
  return nodes
}

/** From now on, new values are made under `to`, and `from` is the old key. */
export const turnTo = async (
  sql: Sql,
  { from, to }: { from: string; to: SecretKey },
): Promise<void> => {
  await sql`delete from secret_key where fingerprint in (${from}, ${to.fingerprint})`
  await sql`insert into secret_key (fingerprint, state)
    values (${from}, 'old'), (${to.fingerprint}, 'new')`
  await sql`update deployment set canary = ${canaryOf(to)}`
}

/** Notes that no process makes anything under another key any more. */
export const noteSettled = async (sql: Sql, fingerprint: string): Promise<void> => {
  await sql`update secret_key set settled_at = clock_timestamp()
    where fingerprint = ${fingerprint} and state = 'new' and settled_at is null`
}

/** Notes that nothing is sealed under another key any more. */
export const noteSealed = async (sql: Sql, fingerprint: string): Promise<void> => {
  await sql`update secret_key set sealed_at = clock_timestamp()
    where fingerprint = ${fingerprint} and state = 'new' and settled_at is not null
      and sealed_at is null`
}

export const dropOldKey = async (sql: Sql): Promise<void> => {
  await sql`update secret_key set state = 'dropped', since = clock_timestamp() where state = 'old'`
}

export interface OlderSessions {
  count: number
  /** When the last of them ends, if nobody comes back to it. */
  until: Date | null
}

/** Live sessions whose tokens may have been made before that time. */
export const olderSessions = async (sql: Sql, before: Date): Promise<OlderSessions> => {
  await sql`set local role tendril_system`
  const [row] = await sql<OlderSessions>`select count(*)::int as count, max(expires_at) as until
    from session where revoked_at is null and expires_at > clock_timestamp()
      and greatest(created_at, last_used_at) < ${before}`
  await sql`reset role`
  return row!
}

export const endOlderSessions = async (sql: Sql, before: Date): Promise<void> => {
  await sql`set local role tendril_system`
  await sql`update session set revoked_at = clock_timestamp()
    where revoked_at is null and expires_at > clock_timestamp()
      and greatest(created_at, last_used_at) < ${before}`
  await sql`reset role`
}

/** A page of the workspaces, those that are being erased too. */
export const tenantsAfter = async (
  sql: Sql,
  after: string | null,
  limit: number,
): Promise<string[]> => {
  await sql`set local role tendril_system`
  const rows = await sql<{ id: string }>`select id from tenant
    where ${after}::uuid is null or id > ${after}::uuid order by id limit ${limit}`
  await sql`reset role`
  return rows.map(({ id }) => id)
}
