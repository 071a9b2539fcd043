/** People and where they are members: known before any workspace is. */
import type { Role } from '#kernel/roles'
import type { Db } from './db.ts'

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
