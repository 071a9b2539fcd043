/** What people do about themselves, whatever their workspaces. */
import { codeOf, type Db, type Sql } from './db.ts'
import type { Person } from './people.ts'
import { auditEntry, type Told } from './told.ts'

export interface OwnPerson extends Person {
  created_at: Date
}

export const ownPerson = async (db: Db, personId: string): Promise<OwnPerson | undefined> =>
  (await db.system((sql) => sql<OwnPerson[]>`select id, email, name, created_at from person where id = ${personId}`))[0]

const UNIQUE_VIOLATION = '23505'

export interface PersonChange {
  email: string
  emailKey: string
  name: string
  told: Told
}

/** Undefined: the email is somebody else's. Told in the audit of each workspace: it knows the person by name and email. */
export const changePerson = (db: Db, personId: string, { email, emailKey, name, told }: PersonChange): Promise<OwnPerson | undefined> =>
  db
    .systemTransaction(async (tx) => {
      const [person] = await tx<OwnPerson[]>`update person set email = ${email}, email_key = ${emailKey}, name = ${name},
        updated_at = clock_timestamp() where id = ${personId} returning id, email, name, created_at`
      const places = await tx<{ tenant_id: string }[]>`select tenant_id from member where person_id = ${personId}`
      await tell(tx, personId, { told, places })
      return person
    })
    .catch((cause) => (codeOf(cause) === UNIQUE_VIOLATION ? undefined : Promise.reject(cause)))

const tell = async (tx: Sql, personId: string, { told, places }: { told: Told; places: { tenant_id: string }[] }): Promise<void> => {
  const actor = { kind: 'person', id: personId }
  for (const { tenant_id } of places) await auditEntry(tx, { ...told, tenantId: tenant_id, actor, refId: personId })
}

/**
 * The name of a workspace whose last owner this is. Certain until the transaction ends: the rows that place the workspaces are
 * locked, which every letter locks before it decides, and so does every other person who goes.
 */
const lastOwnerOf = async (tx: Sql, personId: string): Promise<string | undefined> => {
  await tx`select 1 from actor where tenant_id in (select tenant_id from member where person_id = ${personId})
    order by tenant_id for no key update`
  const [row] = await tx<{ name: string }[]>`select t.name from member m join tenant t on t.id = m.tenant_id
    where m.person_id = ${personId} and m.role = 'owner'
      and not exists (select 1 from member o where o.tenant_id = m.tenant_id and o.role = 'owner' and o.person_id <> m.person_id) limit 1`
  return row?.name
}

/**
 * Erases a person, with all memberships, told in the audit of each workspace. Open invitations of theirs are withdrawn. Changes
 * nothing, and gives the name of a workspace, when this is its last owner.
 */
export const deletePerson = (db: Db, personId: string, told: Told): Promise<string | undefined> =>
  db.systemTransaction(async (tx) => {
    const owned = await lastOwnerOf(tx, personId)
    if (owned !== undefined) return owned
    const places = await tx<{ tenant_id: string }[]>`delete from member where person_id = ${personId} returning tenant_id`
    await tell(tx, personId, { told, places })
    await tx`update invitation set revoked_at = clock_timestamp() where invited_by = ${personId} and accepted_at is null and revoked_at is null`
    await tx`select erase_person(${personId})`
    return undefined
  })
