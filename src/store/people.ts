/** People and where they are members: known before any workspace is. */
import type postgres from 'postgres'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import { codeOf, type Db, type Sql } from './db.ts'
import type { Told } from './sessions.ts'

export interface Person {
  id: string
  email: string
  name: string
}

export const personByEmail = async (db: Db, emailKey: string): Promise<(Person & { hash: string }) | undefined> =>
  (
    await db.system(
      (sql) => sql<(Person & { hash: string })[]>`select id, email, name, password_hash as hash from person where email_key = ${emailKey}`,
    )
  )[0]

export const passwordOf = async (db: Db, personId: string): Promise<string | undefined> =>
  (await db.system((sql) => sql<{ hash: string }[]>`select password_hash as hash from person where id = ${personId}`))[0]?.hash

export interface Membership {
  id: string
  name: string
  role: Role
}

const MOST_WORKSPACES = 1_000

/** The workspaces of a person, the one joined first first. */
export const membershipsOf = (db: Db, personId: string): Promise<Membership[]> =>
  db.system(
    async (sql) =>
      (await sql`select t.id, t.name, m.role from member m join tenant t on t.id = m.tenant_id
        where m.person_id = ${personId} order by m.created_at, t.id limit ${MOST_WORKSPACES}`) as unknown as Membership[],
  )

/** Sets a new password. */
export const setPassword = (db: Db, personId: string, hash: string): Promise<unknown> =>
  db.system((sql) => sql`update person set password_hash = ${hash}, updated_at = clock_timestamp() where id = ${personId}`)

export interface Account extends Person {
  created_at: Date
}

export const accountOf = async (db: Db, personId: string): Promise<Account | undefined> =>
  (await db.system((sql) => sql<Account[]>`select id, email, name, created_at from person where id = ${personId}`))[0]

const UNIQUE_VIOLATION = '23505'

/** Undefined: the email is somebody else's. */
export const changeAccount = (
  db: Db,
  personId: string,
  { email, emailKey, name }: { email: string; emailKey: string; name: string },
): Promise<Account | undefined> =>
  db
    .system(
      (sql) => sql<Account[]>`update person set email = ${email}, email_key = ${emailKey}, name = ${name}, updated_at = clock_timestamp()
        where id = ${personId} returning id, email, name, created_at`,
    )
    .then(
      ([row]) => row,
      (cause) => (codeOf(cause) === UNIQUE_VIOLATION ? undefined : Promise.reject(cause)),
    )

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
export const deletePerson = (db: Db, personId: string, { operation, surface, requestId }: Told): Promise<string | undefined> =>
  db.system((sql) =>
    (sql as postgres.Sql).begin(async (tx) => {
      const owned = await lastOwnerOf(tx, personId)
      if (owned !== undefined) return owned
      const left = await tx<{ tenant_id: string }[]>`delete from member where person_id = ${personId} returning tenant_id`
      for (const { tenant_id } of left)
        await tx`insert into audit (id, tenant_id, at, actor_kind, actor_id, surface, operation, ref_id, request_id)
          values (${newId()}, ${tenant_id}, clock_timestamp(), 'person', ${personId}, ${surface}, ${operation}, ${personId}, ${requestId})`
      await tx`update invitation set revoked_at = clock_timestamp() where invited_by = ${personId} and accepted_at is null and revoked_at is null`
      await tx`select erase_person(${personId})`
      return undefined
    }),
  )
