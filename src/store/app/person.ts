/** What people change about themselves, in any workspace. */

import { type AuditContext, auditEntry } from '../engine/audit-entry.ts'
import type { Db, Fragment, Sql } from '../engine/db.ts'
import { emailStatus, type Person } from './people.ts'

export interface OwnPerson extends Person {
  former_email: string | null
  created_at: Date
}

const columns = (sql: Sql): Fragment =>
  sql`p.id, p.email, ${emailStatus(sql)}, p.former_email, p.name, p.created_at`

export const ownPerson = async (db: Db, personId: string): Promise<OwnPerson | undefined> =>
  (
    await db.system(
      (sql) => sql<OwnPerson>`select ${columns(sql)} from person p where p.id = ${personId}`,
    )
  )[0]

export interface PersonChange {
  name: string
  /** A changed email: as it was typed, its key, and the password hash that was checked for it. */
  email?: { as: string; key: string; shown: string } | undefined
  audit: AuditContext
}

/** Whether somebody else in one of this person's workspaces has the address. */
const fellowHasEmail = async (tx: Sql, personId: string, emailKey: string): Promise<boolean> =>
  (
    await tx`select 1 from person p where p.email_key = ${emailKey} and p.id <> ${personId}
      and exists (select 1 from member own
      join member their on their.tenant_id = own.tenant_id where own.person_id = ${personId}
        and their.person_id = p.id) limit 1`
  ).length > 0

/**
 * `taken`: a fellow member has the email, which members can see anyway. Undefined: the password was
 * replaced in the meantime. Accounts elsewhere do not matter, because a new email is unverified and
 * several accounts may have it. If only the spelling of an address changes, it stays as proven as
 * it was. Audited in each workspace, because workspaces know the person by name and email.
 */
export const changePerson = (
  db: Db,
  personId: string,
  { name, email, audit }: PersonChange,
): Promise<OwnPerson | 'taken' | undefined> =>
  db.systemTransaction(async (tx) => {
    if (email && (await fellowHasEmail(tx, personId, email.key))) return 'taken'
    const to = (sql: Sql) => sql`email = ${email!.as}, former_email = null,
      email_since = case when email_key = ${email!.key} then email_since else clock_timestamp() end,
      email_verified_at = case when email_key = ${email!.key}
        then email_verified_at end, email_key = ${email!.key},`
    const [person] =
      await tx<OwnPerson>`update person p set ${email ? to(tx) : tx``} name = ${name},
        updated_at = clock_timestamp()
      where p.id = ${personId} ${email ? tx`and password_hash = ${email.shown}` : tx``}
        returning ${columns(tx)}`
    if (!person) return undefined
    const places = await tx<{
      tenant_id: string
    }>`select tenant_id from member where person_id = ${personId}`
    await auditIn(tx, personId, { audit, places })
    return person
  })

const auditIn = async (
  tx: Sql,
  personId: string,
  { audit, places }: { audit: AuditContext; places: { tenant_id: string }[] },
): Promise<void> => {
  const actor = { kind: 'person', id: personId }
  for (const { tenant_id } of places)
    await auditEntry(tx, { ...audit, tenantId: tenant_id, actor, refId: personId })
}

/**
 * The name of a workspace whose last owner this is. Stays exact until the transaction ends, because
 * it locks the `actor` rows, which every letter and every other leaving person lock first. The rows
 * are also written, so that a letter that waits for one asks its gate again and finds the person's
 * credentials gone.
 */
const lastOwnerOf = async (tx: Sql, personId: string): Promise<string | undefined> => {
  await tx`update actor a set wake_at = a.wake_at from (select tenant_id from actor
    where tenant_id in (select tenant_id from member where person_id = ${personId})
    order by tenant_id for no key update) own where a.tenant_id = own.tenant_id`
  const [row] = await tx<{
    name: string
  }>`select t.name from member m join tenant t on t.id = m.tenant_id
    where m.person_id = ${personId} and m.role = 'owner'
      and not exists (select 1 from member o where o.tenant_id = m.tenant_id and o.role = 'owner'
        and o.person_id <> m.person_id) limit 1`
  return row?.name
}

/**
 * Erases a person with all memberships and with the links from senders in channels, and withdraws
 * the person's open invitations. Audited in each workspace. If this is the last owner of a
 * workspace, returns its name and changes nothing.
 */
export const deletePerson = (
  db: Db,
  personId: string,
  audit: AuditContext,
): Promise<string | undefined> =>
  db.systemTransaction(async (tx) => {
    const owned = await lastOwnerOf(tx, personId)
    if (owned !== undefined) return owned
    const places = await tx<{
      tenant_id: string
    }>`delete from member where person_id = ${personId} returning tenant_id`
    await auditIn(tx, personId, { audit, places })
    await tx`update invitation set revoked_at = clock_timestamp() where invited_by = ${personId}
      and accepted_at is null and revoked_at is null`
    await tx`select unlink_person(${personId}, ${places.map(({ tenant_id }) => tenant_id)})`
    await tx`select erase_person(${personId})`
    return undefined
  })
