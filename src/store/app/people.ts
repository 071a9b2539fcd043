/** People and their memberships, known before any workspace is. */
import type { EmailStatus } from '#contract/app/session'
import type { Role } from '#kernel/roles'
import { auditEntry } from '../engine/audit-entry.ts'
import type { Db, Fragment, Sql } from '../engine/db.ts'

export interface Person {
  id: string
  /** Null once somebody else has proven the address. */
  email: string | null
  email_status: EmailStatus
  name: string
}

/** Needs `person` under the alias `p`. */
export const emailStatus = (sql: Sql): Fragment =>
  sql`case when p.email is null then 'lost' when p.email_verified_at is null then 'unverified'
    else 'verified' end as email_status`

/** An account whose password a sign-in is checked against. */
export interface SignInCandidate extends Person {
  hash: string
  /** Whether other accounts have the same address and this one has not proven it. */
  disputed: boolean
}

/**
 * How many accounts of an address are tried. It is always this many, because the time that a
 * refusal takes must not reveal the number of accounts.
 */
export const MOST_CANDIDATES = 3

export interface CandidateQuery {
  emailKey: string
  /** Only members of this workspace. */
  tenantId?: string | undefined
  /** The person whom the browser remembers; tried first. */
  personId?: string | undefined
}

/**
 * The accounts of an address. The one that has proven it comes first, then those that have had it
 * longest, so that no later account can take a place. People without memberships come last.
 */
export const candidatesFor = (
  db: Db,
  { emailKey, tenantId, personId }: CandidateQuery,
): Promise<SignInCandidate[]> =>
  db.system(
    async (sql) =>
      await sql<SignInCandidate>`select p.id, p.email, ${emailStatus(sql)}, p.name,
        p.password_hash as hash,
          p.email_verified_at is null and exists (select 1 from person o
            where o.email_key = p.email_key and o.id <> p.id) as disputed
        from person p
        where p.email_key = ${emailKey} ${
          tenantId === undefined
            ? sql``
            : sql`and exists (select 1
          from member m where m.tenant_id = ${tenantId} and m.person_id = p.id)`
        }
        order by ${personId === undefined ? sql`` : sql`p.id = ${personId} desc,`}
          p.email_verified_at is not null desc,
          exists (select 1 from member m where m.person_id = p.id) desc,
            coalesce(p.email_since, p.created_at), p.id
        limit ${MOST_CANDIDATES}`,
  )

/**
 * Takes an address from all accounts that have not proven it, for the one that has. They keep
 * everything else, and a note of their former email. The change is audited in each of their
 * workspaces.
 */
export const claimAddress = async (
  tx: Sql,
  { emailKey, personId }: { emailKey: string; personId: string },
): Promise<void> => {
  const places = await tx<{ person_id: string; tenant_id: string }>`with lost as (
      update person set former_email = email, email = null, email_key = null,
        email_since = clock_timestamp(), updated_at = clock_timestamp()
      where email_key = ${emailKey} and email_verified_at is null and id <> ${personId}
        returning id)
    select m.person_id, m.tenant_id from lost join member m on m.person_id = lost.id`
  const actor = { kind: 'system', id: 'tendril' }
  for (const { person_id, tenant_id } of places)
    await auditEntry(tx, {
      tenantId: tenant_id,
      actor,
      surface: 'rest',
      operation: 'app.person.emailLost',
      refId: person_id,
    })
}

export const passwordHashOf = async (db: Db, personId: string): Promise<string | undefined> =>
  (
    await db.system(
      (sql) =>
        sql<{ hash: string }>`select password_hash as hash from person where id = ${personId}`,
    )
  )[0]?.hash

export interface Membership {
  id: string
  name: string
  role: Role
}

const MOST_WORKSPACES = 1_000

/** A person's workspaces, oldest membership first. */
export const membershipsOf = (db: Db, personId: string): Promise<Membership[]> =>
  db.system(
    async (sql) =>
      await sql<Membership>`select t.id, t.name, m.role from member m
        join tenant t on t.id = m.tenant_id
        where m.person_id = ${personId} order by m.created_at, t.id limit ${MOST_WORKSPACES}`,
  )

/** Replaces a password. Returns false if it was replaced after `from` was compared. */
export const setPassword = async (
  db: Db,
  personId: string,
  { from, to }: { from: string; to: string },
): Promise<boolean> =>
  (
    await db.system(
      (sql) => sql`update person set password_hash = ${to}, updated_at = clock_timestamp()
        where id = ${personId} and password_hash = ${from} returning 1`,
    )
  ).length === 1
