/** Which process owns which tenant: compare-and-set on rows decides, nothing else. Clock: the database's. */

import { type ConnectionOptions, type Db, openSession } from './db.ts'
import type { Ownership } from './letter.ts'

export interface NodeRow {
  incarnation: string
  lockKey: bigint
  url: string
}

export const LEASE_MS = 5_000

/**
 * Announces this process and takes its session lock, which frees by itself when the process dies. Dispose closes the session.
 * `onLost` is called when the database closed the session: the caller must take the lock again.
 */
export async function holdLock(options: ConnectionOptions, lockKey: bigint, onLost: () => void): Promise<AsyncDisposable> {
  const session = openSession(options, onLost)
  await session`select pg_advisory_lock(${lockKey.toString()}::bigint)`
  return { [Symbol.asyncDispose]: () => session.end({ timeout: 2 }) }
}

export const register = (db: Db, node: NodeRow): Promise<unknown> =>
  db.system(
    (sql) => sql`insert into node (incarnation, lock_key, url, expires_at)
      values (${node.incarnation}, ${node.lockKey.toString()}::bigint, ${node.url}, clock_timestamp() + ${LEASE_MS} * interval '1 millisecond')`,
  )

/** Renews the lease. False: others have declared this process dead, and everything it owns may be gone. */
export const renew = async (db: Db, incarnation: string): Promise<boolean> => {
  const rows = await db.system(
    (sql) => sql`update node set expires_at = clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'
      where incarnation = ${incarnation} and expires_at > clock_timestamp() returning 1`,
  )
  return rows.length === 1
}

export interface Peer {
  incarnation: string
  expired: boolean
  /** Its session lock is not held at this moment; a short gap is normal while it reconnects. */
  unlocked: boolean
}

/** The other processes, and whether they still look alive. */
export const peers = (db: Db, self: string): Promise<Peer[]> =>
  db.system(async (sql) => {
    const rows = await sql`select n.incarnation, n.expires_at <= clock_timestamp() as expired,
        not exists (select 1 from pg_locks l where l.locktype = 'advisory' and l.granted and l.objsubid = 1
          and l.database = (select oid from pg_database where datname = current_database())
          and (l.classid::bigint << 32) | l.objid::bigint = n.lock_key) as unlocked
      from node n where n.incarnation <> ${self}`
    return rows as unknown as Peer[]
  })

/** Declares processes dead: their tenants may be taken. A process that still lives notices at its next renewal. */
export const remove = (db: Db, incarnations: string[]): Promise<unknown> =>
  db.system((sql) => sql`delete from node where incarnation = any(${incarnations}::uuid[])`)

/** Takes a tenant if nobody living owns it. The new epoch, or undefined; `unknown` when there is no such tenant. */
export const claimTenant = (db: Db, tenantId: string, owner: string): Promise<number | undefined> =>
  db.system(async (sql) => {
    const [row] = await sql<{ epoch: number }[]>`update actor set owner = ${owner}, epoch = epoch + 1
      where tenant_id = ${tenantId} and (owner is null or owner = ${owner}
        or not exists (select 1 from node n where n.incarnation = actor.owner and n.expires_at > clock_timestamp()))
        and exists (select 1 from node n where n.incarnation = ${owner} and n.expires_at > clock_timestamp())
      returning epoch`
    return row?.epoch
  })

export const releaseTenant = (db: Db, { tenantId, owner, epoch }: Ownership): Promise<unknown> =>
  db.system((sql) => sql`update actor set owner = null where tenant_id = ${tenantId} and owner = ${owner} and epoch = ${epoch}`)

/** Releases everything a process still owns, and the process itself: the last step of an orderly stop. */
export const leave = (db: Db, incarnation: string): Promise<unknown> =>
  db.system(async (sql) => {
    await sql`update actor set owner = null where owner = ${incarnation}`
    await sql`delete from node where incarnation = ${incarnation}`
  })

/** Tenants with due work that no living process owns. */
export const wakeable = (db: Db, self: string, limit: number): Promise<string[]> =>
  db.system(async (sql) => {
    const rows = await sql<{ tenant_id: string }[]>`select tenant_id from actor where wake_at <= clock_timestamp()
        and (owner is null
          or (owner <> ${self} and not exists (select 1 from node n where n.incarnation = actor.owner and n.expires_at > clock_timestamp())))
      order by wake_at limit ${limit}`
    return rows.map((row) => row.tenant_id)
  })
