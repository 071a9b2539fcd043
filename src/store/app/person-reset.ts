/** Links to reset a password, which operators print. */
import { RESET_MS } from '#domain/app/person'
import { type AuditContext, auditEntry } from '../engine/audit-entry.ts'
import { codeOf, type Db, type Sql } from '../engine/db.ts'
import { operator } from '../engine/principal.ts'
import { claimAddress, emailStatus, type Person } from './people.ts'
import { endSessionsIn } from './sessions.ts'

/** An account, with what distinguishes it from others of the same address. */
export interface PersonAccount extends Person {
  created_at: Date
  workspaces: string[]
}

const MOST_ACCOUNTS = 20

/** The account with an id, or the accounts of an address, with the one that has proven it first. */
export const accountsOf = (
  db: Db,
  by: { id: string } | { emailKey: string },
): Promise<PersonAccount[]> =>
  db.system(
    async (sql) =>
      await sql<PersonAccount>`select p.id, p.email, ${emailStatus(sql)}, p.name, p.created_at,
        array(select t.name from member m
          join tenant t on t.id = m.tenant_id where m.person_id = p.id order by m.created_at, t.id
            limit 20) as workspaces
        from person p where ${'id' in by ? sql`p.id = ${by.id}` : sql`p.email_key = ${by.emailKey}`}
        order by p.email_verified_at is not null desc, coalesce(p.email_since, p.created_at), p.id
          limit ${MOST_ACCOUNTS}`,
  )

export interface NewReset {
  personId: string
  email: string
  emailKey: string
  tokenHash: Buffer
}

const placesOf = (tx: Sql, personId: string): PromiseLike<{ tenant_id: string }[]> =>
  tx<{ tenant_id: string }>`select tenant_id from member where person_id = ${personId}`

/**
 * Stores a link, which replaces an earlier one, and returns when it expires. Audited in each
 * workspace of the person.
 */
export const insertReset = (
  db: Db,
  { personId, email, emailKey, tokenHash }: NewReset,
): Promise<Date> =>
  db.systemTransaction(async (tx) => {
    const [row] = await tx<{
      expires_at: Date
    }>`insert into person_reset as r (person_id, token_hash, email, email_key, expires_at)
      values (${personId}, ${tokenHash}, ${email}, ${emailKey},
        clock_timestamp() + ${RESET_MS} * interval '1 millisecond')
      on conflict (person_id) do update set token_hash = excluded.token_hash,
        email = excluded.email, email_key = excluded.email_key,
        created_at = clock_timestamp(), expires_at = excluded.expires_at returning expires_at`
    const audit = {
      operation: 'operator.person.reset',
      surface: 'admin',
      actor: operator,
    }
    for (const { tenant_id } of await placesOf(tx, personId))
      await auditEntry(tx, { ...audit, tenantId: tenant_id, refId: personId })
    return row!.expires_at
  })

export interface OpenReset {
  person_id: string
  email: string
  email_key: string
}

/** A valid link, whose account has not changed its address since. Reading it does not spend it. */
export const openReset = async (db: Db, tokenHash: Buffer): Promise<OpenReset | undefined> =>
  (
    await db.system(
      (sql) => sql<OpenReset>`select r.person_id, r.email, r.email_key from person_reset r
        join person p on p.id = r.person_id
        where r.token_hash = ${tokenHash} and r.expires_at > clock_timestamp()
          and coalesce(p.email_key, r.email_key) = r.email_key`,
    )
  )[0]

export interface WasReset {
  signedOut: number
  revokedKeys: number
  keysLeft: number
}

const UNIQUE_VIOLATION = '23505'

/** An unproven address may have been anybody's, so its owner's keys may be as well. */
const revokeKeys = async (tx: Sql, personId: string): Promise<number> =>
  (
    await tx`update api_key set revoked_at = clock_timestamp() where person_id = ${personId}
      and revoked_at is null returning 1`
  ).length

const countKeys = async (tx: Sql, personId: string): Promise<number> =>
  (
    await tx<{
      keys: number
    }>`select count(*)::int as keys from api_key where person_id = ${personId}
      and revoked_at is null
      and (expires_at is null or expires_at > clock_timestamp())`
  )[0]!.keys

/**
 * Spends a link: sets the password, proves the address and ends the sessions, in one transaction.
 * `spent`: the link was used or replaced in the meantime. `taken`: somebody else has proven the
 * address in the meantime.
 */
export const resetPerson = (
  db: Db,
  { tokenHash, hash, audit }: { tokenHash: Buffer; hash: string; audit: AuditContext },
): Promise<WasReset | 'spent' | 'taken'> =>
  db
    .systemTransaction(async (tx) => {
      const [link] = await tx<OpenReset>`delete from person_reset where token_hash = ${tokenHash}
          and expires_at > clock_timestamp()
        returning person_id, email, email_key`
      if (!link) return 'spent'
      const { person_id: personId, email, email_key: emailKey } = link
      const [before] = await tx<{
        verified: boolean
      }>`select email_verified_at is not null as verified from person
        where id = ${personId} and coalesce(email_key, ${emailKey}) = ${emailKey} for update`
      if (!before) return 'spent'
      await claimAddress(tx, { emailKey, personId })
      await tx`update person set password_hash = ${hash}, email = coalesce(email, ${email}),
        email_key = ${emailKey}, former_email = null,
        email_since = coalesce(email_since, clock_timestamp()),
          email_verified_at = coalesce(email_verified_at, clock_timestamp()),
        updated_at = clock_timestamp() where id = ${personId}`
      const revokedKeys = before.verified ? 0 : await revokeKeys(tx, personId)
      const signedOut = (await endSessionsIn(tx, { personId })).length
      const actor = { kind: 'person', id: personId }
      for (const { tenant_id } of await placesOf(tx, personId))
        await auditEntry(tx, {
          ...audit,
          tenantId: tenant_id,
          actor,
          refId: personId,
          detail: { revoked_keys: revokedKeys },
        })
      return { signedOut, revokedKeys, keysLeft: await countKeys(tx, personId) }
    })
    .catch((cause) => (codeOf(cause) === UNIQUE_VIOLATION ? 'taken' : Promise.reject(cause)))
