/**
 * The processes that serve tenants: their leases, and the locks that prove that they are alive. All
 * times are by the database's clock.
 */
import { randomBytes } from 'node:crypto'
import type postgres from 'postgres'
import type { SecretKeyRow } from '#kernel/secret-keys'
import {
  type ConnectionOptions,
  type Db,
  type Fragment,
  openSession,
  type Sql,
  withDeadline,
} from './db.ts'
import { heldSince } from './hold.ts'
import { inRole } from './owner.ts'
import type { Page } from './page.ts'
import { sqlOf } from './sql.ts'

export interface NodeRow {
  incarnation: string
  lockKey: bigint
  url: string
  /** Absent: of a process that seals nothing. */
  keys?: NodeKeys
}

/** The secret keys of a process, by their fingerprints. */
interface NodeKeys {
  known: readonly string[]
  /** The one that it makes new values under. */
  newest: string
  /** The one that the logins of its pools are derived from, if they are. */
  login: string | undefined
}

export const NODE_LEASE_MS = 5_000

/** A session lock that is released when this process dies. */
export interface HeldLock extends AsyncDisposable {
  key: bigint
}

/**
 * Takes a lock with a random key on its own session. `onLost` is called when the session ends, for
 * any reason.
 */
export async function holdLock(options: ConnectionOptions, onLost: () => void): Promise<HeldLock> {
  const key = randomBytes(8).readBigInt64BE()
  const session = openSession(options, onLost)
  const end = () => session.end({ timeout: 1 })
  try {
    await withDeadline(session`select pg_advisory_lock(${key.toString()}::bigint)`.execute())
    return { key, [Symbol.asyncDispose]: end }
  } catch (cause) {
    // Not awaited, because closing a session that never opened can take a while.
    end().catch(() => {})
    throw cause
  }
}

/** What a process learns as it renews its lease. */
export interface Beat {
  /** The database's clock, in epoch milliseconds. */
  now: number
  /** Since when the deployment is held; null while it is not. */
  heldSince: Date | null
  /** Whether objects in S3 may be those of another deployment. */
  keepsObjects: boolean
  /** Since when the operator has paused every workspace; null while that is not so. */
  pausedEverywhere: Date | null
  /** The secret keys that take or took part in a rotation. */
  secretKeys: SecretKeyRow[]
}

const beat = (sql: Sql): Fragment =>
  sql`(extract(epoch from clock_timestamp()) * 1000)::float8 as now,
    ${heldSince(sql)} as "heldSince", (select keeps_objects from hold) as "keepsObjects",
    (select paused_since from hold) as "pausedEverywhere",
    (select coalesce(jsonb_agg(jsonb_build_object('fingerprint', k.fingerprint, 'state', k.state,
      'sealed', k.sealed_at is not null)), '[]') from secret_key k) as "secretKeys"`

export const register = async (db: Db, node: NodeRow): Promise<Beat> =>
  (
    await db.system(
      (sql) => sql<Beat>`insert into node (incarnation, lock_key, url, expires_at, secret_keys,
          seals_with, seals_since, login_key)
        values (${node.incarnation}, ${node.lockKey.toString()}::bigint, ${node.url},
          clock_timestamp() + ${NODE_LEASE_MS} * interval '1 millisecond',
          ${node.keys?.known ?? []}::text[], ${node.keys?.newest ?? null}, clock_timestamp(),
          ${node.keys?.login ?? null})
        returning ${beat(sql)}`,
    )
  )[0]!

/** Publishes a new address, or a new lock, which from now on proves that the process is alive. */
export const updateNode = async (
  db: Db,
  { incarnation, lockKey, url }: Pick<NodeRow, 'incarnation'> & Partial<NodeRow>,
): Promise<void> => {
  await db.system(
    (
      sql,
    ) => sql`update node set lock_key = coalesce(${lockKey?.toString() ?? null}::bigint, lock_key),
      url = coalesce(${url ?? null}, url)
      where incarnation = ${incarnation}`,
  )
}

/**
 * Renews the lease. Undefined if the lease has ended or others have declared this process dead.
 * They may own its tenants by now. `newest`: the secret key that it makes new values under by now.
 */
export const renew = async (
  db: Db,
  incarnation: string,
  newest: string | null = null,
): Promise<Beat | undefined> =>
  (
    await db.system(
      (
        sql,
      ) => sql<Beat>`update node set expires_at = clock_timestamp() + ${NODE_LEASE_MS} * interval
          '1 millisecond', seals_with = ${newest},
          seals_since = case when seals_with is distinct from ${newest} then clock_timestamp()
            else seals_since end
        where incarnation = ${incarnation} and expires_at > clock_timestamp()
        returning ${beat(sql)}`,
    )
  )[0]

/** Says that the process has carried out the pause of all workspaces that began then. */
export const confirmRecall = async (
  db: Db,
  { incarnation, since }: { incarnation: string; since: Date },
): Promise<void> => {
  await db.system(
    (sql) => sql`update node set recalled = ${since} where incarnation = ${incarnation}`,
  )
}

/**
 * Whether the process still has its row, which means that nobody has declared it dead. Its lease
 * may have ended.
 */
export const isRegistered = async (db: Db, incarnation: string): Promise<boolean> =>
  (await db.system((sql) => sql`select 1 from node where incarnation = ${incarnation}`)).length ===
  1

export interface Peer {
  incarnation: string
  expired: boolean
  /** Whether its session lock is currently not held. A short gap is normal while it reconnects. */
  unlocked: boolean
  /**
   * Whether its lease ends later than one taken now would. In that case the clock has stepped back
   * and the process has not renewed since.
   */
  ahead: boolean
}

/** The backend whose session holds the lock of the node `n`, if any. */
const lockHolder = (
  sql: Sql,
): Fragment => sql`select l.pid from pg_locks l where l.locktype = 'advisory' and l.granted
  and l.objsubid = 1
  and l.database = (select oid from pg_database where datname = current_database())
  and (l.classid::bigint << 32) | l.objid::bigint = n.lock_key`

const isAhead = (sql: Sql): Fragment =>
  sql`n.expires_at > clock_timestamp() + ${NODE_LEASE_MS} * interval '1 millisecond'`

/** The other processes, and whether they still seem alive. */
export const peers = (db: Db, self: string): Promise<Peer[]> =>
  db.system(async (sql) => {
    return await sql<Peer>`select n.incarnation, n.expires_at <= clock_timestamp() as expired,
      ${isAhead(sql)} as ahead,
        not exists (${lockHolder(sql)}) as unlocked
      from node n where n.incarnation <> ${self}`
  })

export interface NodeState extends Pick<Peer, 'incarnation' | 'expired' | 'ahead'> {
  url: string
  /** The session that holds its lock, if any. */
  backend: number | null
}

/** All registered processes, for a role that can switch to `tendril_system`. */
export const nodeStates = (sql: postgres.Sql): Promise<NodeState[]> =>
  sql.begin((client) => statesIn(sqlOf(client)))

const statesIn = (sql: Sql): Promise<NodeState[]> =>
  inRole(
    sql,
    'tendril_system',
    async () =>
      await sql<NodeState>`select n.incarnation, n.url,
        n.expires_at <= clock_timestamp() as expired, ${isAhead(sql)} as ahead,
          (${lockHolder(sql)} limit 1) as backend
        from node n order by n.started_at`,
  )

/** A process, as operators see it. */
export interface ShownNode {
  /** Its incarnation. */
  id: string
  url: string
  started_at: Date
  lease_until: Date
  /** Its lease has not ended. */
  alive: boolean
  /** Its session with the database is open. */
  connected: boolean
  /** How many it owns. */
  workspaces: number
}

export const listNodes = (db: Db, { limit, after }: Page): Promise<ShownNode[]> =>
  db.system(
    async (sql) =>
      await sql<ShownNode>`select n.incarnation as id, n.url, n.started_at,
        n.expires_at as lease_until, n.expires_at > clock_timestamp() as alive,
        exists (${lockHolder(sql)}) as connected,
        (select count(*)::int from actor a where a.owner = n.incarnation) as workspaces
        from node n ${after ? sql`where n.incarnation < ${after}` : sql``}
        order by n.incarnation desc limit ${limit + 1}`,
  )

/** The lease of a process that was killed just now ends within this time. */
const NODES_END_WITHIN_MS = NODE_LEASE_MS + 500
const CHECK_EVERY_MS = 250

/**
 * A process that runs on the database, for a role that can switch to `tendril_system`. One that was
 * killed or is stopping has until its lease ends.
 */
export const livingNode = async (sql: postgres.Sql): Promise<NodeState | undefined> => {
  for (const until = performance.now() + NODES_END_WITHIN_MS; ; await Bun.sleep(CHECK_EVERY_MS)) {
    const isLast = performance.now() >= until
    const living = livingOf(await nodeStates(sql), isLast)
    if (!living || isLast) return living
  }
}

/** If the clock stepped back, a lease may not end: in the end, who has no lock is dead. */
const livingOf = (nodes: NodeState[], isLast: boolean): NodeState | undefined =>
  nodes.find(({ expired, ahead, backend }) => backend !== null || !(expired || (ahead && isLast)))

/** The same within a transaction, after all that were killed before have had their time. */
export const livingNow = async (sql: Sql): Promise<NodeState | undefined> =>
  livingOf(await statesIn(sql), true)

/**
 * Declares processes dead, so that their tenants can be taken. A process that is still alive
 * notices at its next renewal.
 */
export const removeNodes = (db: Db, incarnations: string[]): Promise<unknown> =>
  db.system((sql) => sql`delete from node where incarnation = any(${incarnations}::uuid[])`)

export const nodeLives = async (db: Db, incarnation: string): Promise<boolean> =>
  (
    await db.system(
      (sql) =>
        sql`select 1 from node where incarnation = ${incarnation}
          and expires_at > clock_timestamp()`,
    )
  ).length === 1

/** The address of a process, if it is alive. */
export const urlOfNode = async (db: Db, incarnation: string): Promise<string | undefined> =>
  db.system(async (sql) => {
    const [row] = await sql<{
      url: string
    }>`select url from node where incarnation = ${incarnation} and expires_at > clock_timestamp()`
    return row?.url
  })

/** The addresses of the other living processes. */
export const urlsOfOthers = (db: Db, self: string): Promise<string[]> =>
  db.system(async (sql) => {
    const rows = await sql<{ url: string }>`select url from node where incarnation <> ${self}
      and expires_at > clock_timestamp() order by started_at desc`
    return rows.map(({ url }) => url)
  })
