/**
 * The rotation of the secret key, as the database knows it. All of this is for the role that owns
 * the tables, which can switch to the roles of the pools.
 */
import type { KeyedNode } from '#domain/app/key-rotation'
import { fail } from '#kernel/errors'
import { canaryOf, type SecretKey } from '#kernel/secret'
import type { SecretKeyRow } from '#kernel/secret-keys'
import { BACKUP_LOCK } from '../backup/lock.ts'
import { inRole } from '../engine/owner.ts'
import type { Fragment, Sql } from '../engine/sql.ts'

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

/**
 * Until the transaction ends, no process joins, leaves or renews its lease, so its statements must
 * be quick.
 */
export const lockNodes = async (sql: Sql): Promise<void> => {
  await sql`set local statement_timeout = '2s'`
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
export const keyedNodes = (sql: Sql, settledMs: number): Promise<KeyedNode[]> =>
  inRole(
    sql,
    'tendril_system',
    async () =>
      await sql<KeyedNode>`select incarnation as id, url, secret_keys as known,
        seals_with as newest, login_key as login,
        coalesce(seals_since <= clock_timestamp() - ${settledMs} * interval '1 millisecond', false)
          as settled
      from node where expires_at > clock_timestamp() order by started_at`,
  )

/**
 * From an old key to a new one. A rotation that goes back and forth changes to the same key several
 * times, and a command that works for one change must not go on after the next.
 */
export interface KeyChange {
  to: string
  /** Undefined once it was dropped. */
  from: string | undefined
  /** When it was, as the database writes it. */
  since: string
}

/** The last one. Undefined if the key was never rotated. */
export const lastChange = async (sql: Sql): Promise<KeyChange | undefined> => {
  const [row] = await sql<{ to: string; from: string | null; since: string }>`
    select fingerprint as to, extract(epoch from since)::text as since,
      (select fingerprint from secret_key where state = 'old') as from
    from secret_key where state = 'new'`
  return row && { ...row, from: row.from ?? undefined }
}

const isOf = (sql: Sql, { to, since }: KeyChange): Fragment =>
  sql`fingerprint = ${to} and state = 'new' and extract(epoch from since)::text = ${since}`

const CHANGED =
  'another command has turned the rotation to another key meanwhile, so this one has ended: `tendril admin secret show` says which key is the newest'

const requireOne = ({ length }: readonly unknown[]): void => {
  if (length !== 1) fail('conflict', CHANGED, { reason: 'wrong_state' })
}

/** Throws if there was a later change, and keeps one from being made until the transaction ends. */
export const requireLastChange = async (sql: Sql, change: KeyChange): Promise<void> =>
  requireOne(
    await sql<{ to: string }>`
      select fingerprint as to from secret_key where ${isOf(sql, change)} for share`,
  )

/** From now on, new values are made under `to`, and `from` is the old key. */
export const changeTo = async (
  sql: Sql,
  { from, to }: { from: string; to: SecretKey },
): Promise<void> => {
  await sql`delete from secret_key where fingerprint in (${from}, ${to.fingerprint})`
  await sql`insert into secret_key (fingerprint, state)
    values (${from}, 'old'), (${to.fingerprint}, 'new')`
  await sql`update deployment set canary = ${canaryOf(to)}`
}

/** Notes that no process makes anything under another key any more. Throws after a later change. */
export const noteSettled = async (sql: Sql, change: KeyChange): Promise<void> =>
  requireOne(
    await sql<{ to: string }>`
      update secret_key set settled_at = coalesce(settled_at, clock_timestamp())
      where ${isOf(sql, change)} returning fingerprint as to`,
  )

/** Notes that nothing is sealed under another key any more. Throws after a later change. */
export const noteSealed = async (sql: Sql, change: KeyChange): Promise<void> =>
  requireOne(
    await sql<{ to: string }>`
      update secret_key set sealed_at = coalesce(sealed_at, clock_timestamp())
      where ${isOf(sql, change)} and settled_at is not null returning fingerprint as to`,
  )

export const dropOldKey = async (sql: Sql): Promise<void> => {
  await sql`update secret_key set state = 'dropped', since = clock_timestamp() where state = 'old'`
}

export interface OlderSessions {
  count: number
  /** When the last of them ends, if nobody comes back to it. */
  until: Date | null
}

const isOlder = (sql: Sql, before: Date): Fragment =>
  sql`revoked_at is null and expires_at > clock_timestamp()
    and greatest(created_at, last_used_at) < ${before}`

/** Live sessions whose tokens may have been made before that time. */
export const olderSessions = (sql: Sql, before: Date): Promise<OlderSessions> =>
  inRole(sql, 'tendril_system', async () => {
    const [row] = await sql<OlderSessions>`select count(*)::int as count, max(expires_at) as until
      from session where ${isOlder(sql, before)}`
    return row!
  })

/** Ends some of them. Returns how many. */
export const endOlderSessions = (sql: Sql, before: Date, limit: number): Promise<number> =>
  inRole(sql, 'tendril_system', async () => {
    const ended = await sql`update session set revoked_at = clock_timestamp()
      where ${isOlder(sql, before)}
        and id in (select id from session where ${isOlder(sql, before)} limit ${limit})
      returning 1`
    return ended.length
  })

/** A page of the workspaces, those that are being erased too. */
export const tenantsAfter = (sql: Sql, after: string | null, limit: number): Promise<string[]> =>
  inRole(sql, 'tendril_system', async () => {
    const rows = await sql<{ id: string }>`select id from tenant
      where ${after}::uuid is null or id > ${after}::uuid order by id limit ${limit}`
    return rows.map(({ id }) => id)
  })
