import { type DeviceScope, GRANT_S, MOST_WAITING, POLL_EVERY_S } from '#domain/app/device'
import { newId } from '#kernel/ids'
import { type AuditContext, auditEntry } from '../engine/audit-entry.ts'
import type { Db, Sql } from '../engine/db.ts'

export interface NewGrant {
  deviceHash: Buffer
  userHash: Buffer
  clientId: string
  name: string
  address: string
  scopes: DeviceScope[]
}

const RETENTION = '1 hour'
const MOST_REMOVED = 50
/** SQLSTATE `unique_violation`: another request is pending under the same code. */
const TAKEN = '23505'

/**
 * `taken`: the caller should make another code. `full`: too many requests are pending. Also removes
 * a few requests that ended long ago.
 */
export const insertGrant = async (db: Db, grant: NewGrant): Promise<'waits' | 'taken' | 'full'> => {
  const inserted = db.system(async (sql) => {
    await sql`delete from device_grant where id in
      (select id from device_grant where expires_at < clock_timestamp() - ${RETENTION}::interval
        order by expires_at limit ${MOST_REMOVED})`
    return sql`insert into device_grant (id, device_code_hash, user_code_hash, client_id,
      device_name, address, scopes, poll_every, expires_at)
      select ${newId()}::uuid, ${grant.deviceHash}, ${grant.userHash}, ${grant.clientId},
        ${grant.name}, ${grant.address},
             ${grant.scopes}::text[], ${POLL_EVERY_S}, clock_timestamp() + ${GRANT_S} * interval
               '1 second'
      where (select count(*) from (select 1 from device_grant where expires_at > clock_timestamp()
        limit ${MOST_WAITING}) w) < ${MOST_WAITING}
      returning 1`
  })
  return inserted.then(
    ({ length }) => (length === 1 ? 'waits' : 'full'),
    (cause) => {
      if ((cause as { code?: unknown }).code === TAKEN) return 'taken'
      throw cause
    },
  )
}

export interface PendingGrant {
  client_id: string
  device_name: string
  address: string
  scopes: DeviceScope[]
  created_at: Date
  expires_at: Date
}

/** The pending request of a code. */
export const findPendingGrant = async (
  db: Db,
  userHash: Buffer,
): Promise<PendingGrant | undefined> => {
  const rows = await db.system(
    async (sql) =>
      await sql<PendingGrant>`select client_id, device_name, address, scopes, created_at, expires_at
        from device_grant
        where user_code_hash = ${userHash} and decision is null and expires_at > clock_timestamp()`,
  )
  return rows[0]
}

export interface GrantDecision {
  userHash: Buffer
  decision: 'approve' | 'deny'
  /** The granted scopes, some or all of those requested. */
  granted: DeviceScope[]
  personId: string
  tenantId: string
  /** The session in which the person decides. */
  sessionId: string
  audit: AuditContext
}

/**
 * Records a decision. The first decision on a code holds. Returns false if no request is pending,
 * or if the session has ended. Ending all sessions of a person also undoes approvals, so the
 * person's row is locked to make one of the two wait for the other. Audited in the workspace.
 */
export const decideGrant = (
  db: Db,
  { userHash, decision, granted, personId, tenantId, sessionId, audit }: GrantDecision,
): Promise<boolean> =>
  db.systemTransaction(async (tx) => {
    await tx`select 1 from person where id = ${personId} for share`
    const [row] = await tx<{
      id: string
      device_name: string
      address: string
    }>`update device_grant set decision = ${decision}, decided_at = clock_timestamp(),
      decided_by = ${personId},
          decided_in = ${tenantId}, granted = ${granted}::text[],
          password_at = (select password_at from session where id = ${sessionId})
        where user_code_hash = ${userHash} and decision is null and expires_at > clock_timestamp()
          and exists (select 1 from session where id = ${sessionId} and revoked_at is null)
            returning id, device_name, address`
    if (!row) return false
    const detail = { decision, device: row.device_name, address: row.address, scopes: granted }
    await auditEntry(tx, {
      ...audit,
      tenantId,
      actor: { kind: 'person', id: personId },
      refId: row.id,
      detail,
    })
    return true
  })

/** The result of a device's poll. */
export type PollResult =
  | { state: 'unknown' | 'spent' | 'expired' | 'denied' | 'waiting' | 'too_soon' }
  | ({ state: 'issued' } & Issued)

export interface Issued {
  scopes: DeviceScope[]
  workspace: { id: string; name: string }
  personId: string
  /** Present if a session was requested. */
  session?: { id: string; expiresAt: Date; lastsS: number }
}

export interface Poll {
  deviceHash: Buffer
  clientId: string
  leewayS: number
  slowerS: number
  /** For the key that the device may get. */
  key: { hash: Buffer; last4: string }
  sessionMs: number
  from: { address: string; userAgent: string | null; requestId: string }
}

interface GrantRow {
  id: string
  client_id: string
  device_name: string
  decision: 'approve' | 'deny' | null
  granted: DeviceScope[] | null
  decided_by: string | null
  decided_in: string | null
  password_at: Date | null
  spent: boolean
  over: boolean
  too_soon: boolean
}

/** Answers a poll. If two polls of an approved grant arrive at once, only one gets the token. */
export const pollGrant = (db: Db, poll: Poll): Promise<PollResult> =>
  db.systemTransaction(async (tx): Promise<PollResult> => {
    const [row] =
      await tx<GrantRow>`select id, client_id, device_name, decision, granted, decided_by,
        decided_in, password_at,
          issued_at is not null as spent, expires_at <= clock_timestamp() as over,
          coalesce(clock_timestamp() < polled_at + (poll_every - ${poll.leewayS}::float8) * interval
            '1 second', false) as too_soon
        from device_grant where device_code_hash = ${poll.deviceHash} for update`
    if (!row || row.client_id !== poll.clientId) return { state: 'unknown' }
    if (row.spent) return { state: 'spent' }
    if (row.over) return { state: 'expired' }
    if (row.decision === 'deny') return { state: 'denied' }
    if (row.decision === 'approve') return issue(tx, row, poll)
    await tx`update device_grant set polled_at = clock_timestamp(),
        poll_every = least(poll_every + ${row.too_soon ? poll.slowerS : 0}, ${GRANT_S})
          where id = ${row.id}`
    return { state: row.too_soon ? 'too_soon' : 'waiting' }
  })

/** Issues the key or session. An approver who is no longer a member cannot grant anything. */
const issue = async (tx: Sql, row: GrantRow, poll: Poll): Promise<PollResult> => {
  const scopes = row.granted ?? []
  const [workspace] = await tx<{
    id: string
    name: string
  }>`select t.id, t.name from member m join tenant t on t.id = m.tenant_id
    where m.tenant_id = ${row.decided_in} and m.person_id = ${row.decided_by}`
  if (!workspace) return { state: 'denied' }
  await tx`update device_grant set issued_at = clock_timestamp() where id = ${row.id}`
  const personId = row.decided_by!
  const refId = newId()
  const session = scopes.includes('session')
    ? await insertSession(tx, { id: refId, row, poll })
    : undefined
  if (!session)
    await tx`insert into api_key (id, tenant_id, person_id, name, hash, last4, scopes)
      values (${refId}, ${workspace.id}, ${personId}, ${row.device_name}, ${poll.key.hash},
        ${poll.key.last4}, ${scopes}::text[])`
  const audit = { operation: 'app.device.issued', surface: 'cli', requestId: poll.from.requestId }
  const detail = { device: row.device_name, address: poll.from.address, scopes }
  await auditEntry(tx, {
    ...audit,
    tenantId: workspace.id,
    actor: { kind: 'person', id: personId },
    refId,
    detail,
  })
  return {
    state: 'issued',
    scopes,
    workspace: { id: workspace.id, name: workspace.name },
    personId,
    ...(session ? { session } : {}),
  }
}

const insertSession = async (
  tx: Sql,
  { id, row, poll }: { id: string; row: GrantRow; poll: Poll },
) => {
  const [session] = await tx<{
    expires_at: Date
  }>`insert into session (id, tenant_id, person_id, kind, user_agent, address, password_at,
    expires_at)
    values (${id}, ${row.decided_in}, ${row.decided_by}, 'command_line',
      ${poll.from.userAgent ?? row.device_name}, ${poll.from.address},
            ${row.password_at},
            clock_timestamp() + ${poll.sessionMs} * interval '1 millisecond') returning expires_at`
  return { id, expiresAt: session!.expires_at, lastsS: Math.floor(poll.sessionMs / 1_000) }
}

/** Revokes an API key by its secret. Does nothing if the key is unknown or already revoked. */
export const revokeHeldKey = (
  db: Db,
  hash: Buffer,
  { operation, surface, requestId }: AuditContext,
): Promise<unknown> =>
  db.system(
    (sql) => sql`with revoked as (
        update api_key set revoked_at = clock_timestamp() where hash = ${hash}
          and revoked_at is null returning id, tenant_id, person_id)
      insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation, ref_id,
        request_id)
      select ${newId()}::uuid, tenant_id, clock_timestamp(), case when person_id is null then 'key'
        else 'person' end,
             coalesce(person_id, id)::text, ${surface}, ${operation}, id, ${requestId}
               from revoked`,
  )
