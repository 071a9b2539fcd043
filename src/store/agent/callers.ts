/** What the caller of a job may do now. */
import type { OnBehalf } from '#domain/agent/job'
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'
import type { Fragment, Sql } from '../engine/db.ts'
import { one } from '../engine/load.ts'

export interface CallerNow {
  /** Of its member; null for a key of the workspace. */
  role: Role | null
  /** Of a key; null for a person, who has all. */
  scopes: Scope[] | null
}

const keyNow = (sql: Sql, id: Fragment): Fragment<CallerNow> =>
  sql`select m.role, k.scopes from api_key k left join member m on m.tenant_id = k.tenant_id and m.person_id = k.person_id
    where k.id = ${id} and k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp())
      and (k.person_id is null or m.role is not null)`

/** Undefined if the key was revoked, or the person has left. */
export const callerNow = ({ kind, id, personId }: OnBehalf) =>
  one<CallerNow>({}, (sql) =>
    kind === 'key' ? keyNow(sql, sql`${id}`) : sql`select m.role, null as scopes from member m where m.person_id = ${personId}`,
  )

/** Whether the caller in a column may do nothing any more. The members are read once, for all rows, and those of the workspace alone. */
export const isGone = (sql: Sql, by: Fragment): Fragment =>
  sql`not case ${by}->>'kind' when 'key' then exists (${keyNow(sql, sql`(${by}->>'id')::uuid`)})
    else coalesce((${by}->>'personId')::uuid in (select person_id from member), false) end`
