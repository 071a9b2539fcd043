/** Sign-ins to accounts of networks that people end on a page of the network. */
import type { SealedRow } from '#kernel/sealer'
import type { Db, Query } from '../engine/db.ts'
import { mapPart, one, sure } from '../engine/load.ts'

/** How long what became of one can be read. */
const KEPT = '1 hour'
/** In one workspace, within their life. */
export const mostAuthorizations = 20

interface AuthorizationWish {
  /** A handle or a DID; null: the person chooses the account there. */
  handle: string | null
  /** Null: the deployment's own. */
  service: string | null
  /** Whether it becomes the default; null: as for any account. */
  is_default: boolean | null
}

export interface NewAuthorization extends AuthorizationWish {
  id: string
  person_id: string
  network: string
}

/** What sealed secrets of an authorization are bound to. */
export const authorizationRow = (id: string): SealedRow => `account_authorization/${id}`

/** How many of this workspace are not over. */
export const liveAuthorizations = mapPart(
  sure(
    one<{ count: number }>(
      {},
      (sql) => sql`select count(*)::int as count from account_authorization
        where expires_at > clock_timestamp()`,
    ),
  ),
  ({ count }) => count,
)

export const forgetAuthorizations: Query = (sql) =>
  sql`delete from account_authorization
    where expires_at < clock_timestamp() - ${KEPT}::interval`

export const insertAuthorization =
  (made: NewAuthorization, times: { now: Date; expiresAt: Date }): Query =>
  (sql) =>
    sql`insert into account_authorization (id, person_id, network, handle, service, is_default,
      status, created_at, expires_at)
      values (${made.id}, ${made.person_id}, ${made.network}, ${made.handle}, ${made.service},
        ${made.is_default}, 'pending', ${times.now}, ${times.expiresAt})`

export interface StandingAuthorization {
  id: string
  network: string
  handle: string | null
  status: 'pending' | 'connected' | 'refused' | 'expired'
  reason: string | null
  created_at: Date
  expires_at: Date
  connection_id: string | null
  account_handle: string | null
  display_name: string | null
  is_default: boolean | null
}

/** How one stands, with the account that it has connected. */
export const standingAuthorization =
  (id: string): Query<StandingAuthorization> =>
  (sql) =>
    sql`select a.id, a.network, a.handle, a.reason, a.created_at, a.expires_at, a.connection_id,
      case when a.status = 'pending' and a.expires_at <= clock_timestamp() then 'expired'
        else a.status end as status,
      c.handle as account_handle, c.display_name, c.is_default
      from account_authorization a left join connection c
        on c.tenant_id = a.tenant_id and c.id = a.connection_id where a.id = ${id}`

/** What settling one needs. The secrets are in base64. */
export interface OpenAuthorization {
  id: string
  network: string
  status: 'pending' | 'connected' | 'refused'
  is_default: boolean | null
  secrets: string | null
}

export const openAuthorization = (id: string) =>
  one<OpenAuthorization>(
    {},
    (sql) => sql`select id, network, status, is_default, encode(secrets, 'base64') as secrets
      from account_authorization where id = ${id}`,
  )

type Settled = { connectionId: string } | { reason: string }

/** Forgets the secrets: an account has the session now, or nobody. */
export const settleAuthorization =
  (id: string, settled: Settled): Query =>
  (sql) =>
    'reason' in settled
      ? sql`update account_authorization set status = 'refused', reason = ${settled.reason},
          secrets = null where id = ${id} and status = 'pending'`
      : sql`update account_authorization set status = 'connected',
          connection_id = ${settled.connectionId}, secrets = null
          where id = ${id} and status = 'pending'`

/** Who began one, in whatever workspace, and what they asked for. */
export interface BegunAuthorization extends AuthorizationWish {
  id: string
  tenant_id: string
  person_id: string
  network: string
  is_used: boolean
  is_over: boolean
  status: 'pending' | 'connected' | 'refused'
}

export const begunAuthorization = async (
  db: Db,
  id: string,
): Promise<BegunAuthorization | undefined> =>
  (
    await db.system(
      async (sql) =>
        await sql<BegunAuthorization>`select id, tenant_id, person_id, network,
        handle, service, is_default, status, used_at is not null as is_used,
        expires_at <= clock_timestamp() as is_over from account_authorization where id = ${id}`,
    )
  )[0]

interface Led {
  id: string
  stateHash: Buffer
  secrets: Buffer
}

/** The person is led to the network. Whoever was led there before cannot come back any more. */
export const noteLed = async (db: Db, { id, stateHash, secrets }: Led): Promise<boolean> =>
  (
    await db.system(
      async (sql) =>
        await sql`update account_authorization
        set state_hash = ${stateHash}, secrets = ${secrets}
        where id = ${id} and status = 'pending' and used_at is null
          and expires_at > clock_timestamp() returning 1`,
    )
  ).length > 0

/** The person has come back: once, in time. Undefined otherwise. */
export const takeAuthorization = async (
  db: Db,
  { id, stateHash }: { id: string; stateHash: Buffer },
): Promise<Buffer | undefined> =>
  (
    await db.system(
      async (sql) =>
        await sql<{ secrets: Buffer }>`update account_authorization
        set used_at = clock_timestamp()
        where id = ${id} and state_hash = ${stateHash} and status = 'pending' and used_at is null
          and expires_at > clock_timestamp() returning secrets`,
    )
  )[0]?.secrets

/** Keeps the session that was had, or forgets it. */
export const keepSecrets = (db: Db, id: string, secrets: Buffer | null): Promise<unknown> =>
  db.system(
    (sql) => sql`update account_authorization set secrets = ${secrets}
      where id = ${id} and status = 'pending'`,
  )
