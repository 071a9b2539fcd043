/** Sessions of people, looked up before their workspace is known. */
import { SESSION_MS } from '#domain/app/person'
import type { RatePlan } from '#domain/app/rates'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import { type AuditContext, auditEntry } from '../engine/audit-entry.ts'
import type { Db, Fragment, Sql } from '../engine/db.ts'
import { mapPart, one, type Part } from '../engine/load.ts'
import { emailStatus, type Membership, type Person } from './people.ts'

type SessionKind = 'browser' | 'command_line'

/** A session's owner, and its rights in its current workspace. */
export interface SessionGrant {
  id: string
  kind: SessionKind
  generation: number
  expiresAt: Date
  person: Person
  workspace: Membership
  plan: RatePlan
}

export interface NewSession {
  personId: string
  /** The password hash that was compared. */
  hash: string
  tenantId: string
  kind: SessionKind
  userAgent: string | null
  address: string | null
  /** Milliseconds until the session ends if it is not refreshed. */
  lastsMs: number
  audit: AuditContext
}

interface ChangedSession {
  id: string
  tenant_id: string
  person_id: string
}

/** Changes sessions and audits the change in their workspaces, in one transaction. */
const auditedChange = (
  db: Db,
  audit: AuditContext,
  change: (sql: Sql) => PromiseLike<ChangedSession[]>,
): Promise<ChangedSession[]> =>
  db.systemTransaction(async (tx) => {
    const rows = await change(tx)
    for (const row of rows)
      await auditEntry(tx, {
        ...audit,
        tenantId: row.tenant_id,
        actor: { kind: 'person', id: row.person_id },
        refId: row.id,
      })
    return rows
  })

/** How long rows outlive their sessions, and how many older rows a new session removes. */
const SWEEP = { afterMs: SESSION_MS, most: 50 }
/** The most sessions of a person. One more ends the oldest. */
const MOST_SESSIONS = 100

const makeRoom = (sql: Sql, personId: string): Fragment<ChangedSession> =>
  sql`with gone as (delete from session where id in (select id from session
        where expires_at < clock_timestamp() - ${SWEEP.afterMs} * interval '1 millisecond'
          order by expires_at limit ${SWEEP.most}))
      update session set revoked_at = clock_timestamp() where id in (select id from session
        where person_id = ${personId} and revoked_at is null and expires_at > clock_timestamp()
          order by id desc offset ${MOST_SESSIONS - 1})
      returning id, tenant_id, person_id`

/**
 * Returns the session's id, or undefined if the person is not a member there or the password was
 * replaced. A new password ends all sessions, and no session may begin with the old one afterwards.
 * The person's row is locked, so that one of the two waits for the other.
 */
export const insertSession = async (db: Db, session: NewSession): Promise<string | undefined> => {
  await auditedChange(db, { ...session.audit, operation: 'app.sessions.tooMany' }, (sql) =>
    makeRoom(sql, session.personId),
  )
  const [row] = await auditedChange(
    db,
    session.audit,
    (
      sql,
    ) => sql`insert into session (id, tenant_id, person_id, kind, user_agent, address, password_at,
      expires_at)
      select ${newId()}::uuid, m.tenant_id, m.person_id, ${session.kind}, ${session.userAgent},
        ${session.address}, clock_timestamp(),
             clock_timestamp() + ${session.lastsMs} * interval '1 millisecond'
      from member m join person p on p.id = m.person_id
      where m.tenant_id = ${session.tenantId} and m.person_id = ${session.personId}
        and p.password_hash = ${session.hash} for share of p returning id, tenant_id, person_id`,
  )
  return row?.id
}

interface SessionRow {
  id: string
  kind: SessionKind
  generation: number
  expires_at: Date
  person_id: string
  email: string | null
  email_status: Person['email_status']
  person_name: string
  tenant_id: string
  workspace_name: string
  role: Role
  plan: RatePlan['plan']
  overrides: RatePlan['overrides']
}

const toGrant = (row: SessionRow): SessionGrant => ({
  id: row.id,
  kind: row.kind,
  generation: row.generation,
  expiresAt: row.expires_at,
  person: {
    id: row.person_id,
    email: row.email,
    email_status: row.email_status,
    name: row.person_name,
  },
  workspace: { id: row.tenant_id, name: row.workspace_name, role: row.role },
  plan: { plan: row.plan, overrides: row.overrides },
})

/** A live session of a person who is still a member of its workspace. */
export const findSession = async (db: Db, id: string): Promise<SessionGrant | undefined> => {
  const [row] = await db.system(
    (sql) => sql<SessionRow>`select s.id, s.kind, s.generation, s.expires_at, p.id as person_id,
      p.email, ${emailStatus(sql)}, p.name as person_name,
        t.id as tenant_id, t.name as workspace_name, t.plan, t.overrides, m.role
      from session s join person p on p.id = s.person_id join tenant t on t.id = s.tenant_id
        join member m on m.tenant_id = s.tenant_id and m.person_id = s.person_id
      where s.id = ${id} and s.revoked_at is null and s.expires_at > clock_timestamp()`,
  )
  return row && toGrant(row)
}

/**
 * Spends a refresh token. Returns true for the newest token of a live session, whose lifetime then
 * starts again. If an older token comes, somebody has used it before, so the session ends. The last
 * token but one is an exception if it was spent at most `graceMs` ago, because two tabs of one
 * browser send the same token at once.
 */
export const advanceSession = async (
  db: Db,
  {
    sessionId,
    generation,
    graceMs = 0,
  }: { sessionId: string; generation: number; graceMs?: number },
  audit: Omit<AuditContext, 'operation'>,
): Promise<boolean> => {
  const advanced = await db.system(
    (sql) => sql`update session set generation = generation + 1, last_used_at = clock_timestamp(),
        expires_at = clock_timestamp() + ${SESSION_MS} * interval '1 millisecond'
      where id = ${sessionId} and generation = ${generation} and revoked_at is null
        and expires_at > clock_timestamp() returning 1`,
  )
  if (advanced.length === 1) return true
  await auditedChange(
    db,
    { ...audit, operation: 'app.session.reused' },
    (sql) => sql`update session set revoked_at = clock_timestamp()
      where id = ${sessionId} and generation > ${generation} and revoked_at is null
        and not (generation = ${generation + 1} and last_used_at > clock_timestamp() - ${graceMs} *
          interval '1 millisecond')
      returning id, tenant_id, person_id`,
  )
  return false
}

/**
 * Records that the person entered the password in a session. Returns until when that counts:
 * `freshMs` from now.
 */
export const confirmSession = async (
  db: Db,
  id: string,
  freshMs: number,
): Promise<Date | undefined> =>
  (
    await db.system(
      (sql) => sql<{ until: Date }>`update session set password_at = clock_timestamp()
        where id = ${id} and revoked_at is null and expires_at > clock_timestamp()
        returning password_at + ${freshMs} * interval '1 millisecond' as until`,
    )
  )[0]?.until

/**
 * Whether the password was last entered in a command-line session longer than `freshMs` ago. Other
 * kinds of sessions never need it again.
 */
export const stalePassword = (id: string, freshMs: number): Part<boolean> =>
  mapPart(
    one<{ stale: true }>(
      {},
      (sql) => sql`select true as stale from session where id = ${id} and kind = 'command_line'
        and coalesce(password_at < clock_timestamp() - ${freshMs} * interval '1 millisecond', true)`,
    ),
    (row) => row !== undefined,
  )

/** Moves a session to another workspace. Returns false if the person is not a member there. */
export const moveSession = async (db: Db, id: string, tenantId: string): Promise<boolean> =>
  (
    await db.system(
      (sql) => sql`update session s set tenant_id = m.tenant_id from member m
        where s.id = ${id} and m.person_id = s.person_id and m.tenant_id = ${tenantId} returning 1`,
    )
  ).length === 1

/**
 * Denies approved grants that have not been fetched. Each would become a new session or key of a
 * person who has just ended them all.
 */
const denyApproved = (sql: Sql, personId: string): Fragment =>
  sql`with undone as (update device_grant set decision = 'deny' where decided_by = ${personId}
    and decision = 'approve' and issued_at is null)`

/**
 * Ends sessions of a person: one, all, or all but one. Returns how many it ended. Audited in each
 * session's workspace.
 */
export const endSessions = async (
  db: Db,
  { personId, id, except }: { personId: string; id?: string; except?: string },
  audit: AuditContext,
): Promise<number> => {
  const rows = await auditedChange(db, audit, async (sql) => {
    if (id === undefined) await sql`select 1 from person where id = ${personId} for no key update`
    return endSessionsIn(sql, { personId, id, except })
  })
  return rows.length
}

/** The same within a transaction, without audit rows. */
export const endSessionsIn = (
  sql: Sql,
  {
    personId,
    id,
    except,
  }: { personId: string; id?: string | undefined; except?: string | undefined },
): Fragment<ChangedSession> =>
  sql`${id === undefined ? denyApproved(sql, personId) : sql``} update session set revoked_at = clock_timestamp()
      where person_id = ${personId} ${id === undefined ? sql`` : sql`and id = ${id}`} ${except === undefined ? sql`` : sql`and id <> ${except}`}
        and revoked_at is null and expires_at > clock_timestamp()
      returning id, tenant_id, person_id`

/** Ends the session of a token. */
export const endHeldSession = (db: Db, id: string, audit: AuditContext): Promise<unknown> =>
  auditedChange(
    db,
    audit,
    (sql) => sql`update session set revoked_at = clock_timestamp()
      where id = ${id} and revoked_at is null and expires_at > clock_timestamp()
        returning id, tenant_id, person_id`,
  )

export interface ListedSession {
  id: string
  kind: SessionKind
  user_agent: string | null
  address: string | null
  created_at: Date
  last_used_at: Date
  expires_at: Date
}

/** A person's live sessions, newest first. Returns one more than the limit. */
export const listSessions = (
  db: Db,
  personId: string,
  { limit, after }: { limit: number; after?: string | undefined },
): Promise<ListedSession[]> =>
  db.system(
    async (sql) =>
      await sql<ListedSession>`select id, kind, user_agent, address, created_at, last_used_at, expires_at from session
        where person_id = ${personId} and revoked_at is null and expires_at > clock_timestamp() ${after === undefined ? sql`` : sql`and id < ${after}`}
        order by id desc limit ${limit + 1}`,
  )
