/** What the caller of a job may do now. */
import type { OnBehalf } from '#domain/agent/job/job'
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'
import type { Fragment, Sql } from '../engine/db.ts'
import { one } from '../engine/load.ts'

export interface CallerNow {
  /** The member's role; null for a key of the workspace. A stranger has a role that only reads. */
  role: Role | null
  /** The scopes of a key or a stranger; null for a person, who has all of them. */
  scopes: Scope[] | null
  /** The name of the person or key; null for a stranger. */
  name: string | null
}

/** Looks up a member's person by id. */
const personOf = (sql: Sql): Fragment =>
  sql`left join lateral (select name from person where id = m.person_id offset 0) p on true`

const keyNow = (sql: Sql, id: Fragment): Fragment<CallerNow> =>
  sql`select m.role, k.scopes, k.name from api_key k left join member m on m.tenant_id = k.tenant_id
    and m.person_id = k.person_id
    where k.id = ${id} and k.revoked_at is null and (k.expires_at is null
      or k.expires_at > clock_timestamp())
      and (k.person_id is null or m.role is not null)`

/**
 * `person`: the linked sender's; null for a stranger, who has access while the connection is open
 * to anyone.
 */
const senderNow = (sql: Sql, id: Fragment, person: Fragment): Fragment<CallerNow> =>
  sql`select m.role, null::text[] as scopes, p.name from channel_identity i
        join member m on m.tenant_id = i.tenant_id and m.person_id = i.person_id ${personOf(sql)}
      where i.id = ${id} and i.person_id = ${person}
    union all select 'viewer', array['api:read', 'workspace:use'], null from channel_connection c
      where c.id = ${id} and ${person} is null and c.sender_policy = 'anyone'`

/** Undefined if the key was revoked, the person has left, or the sender is no longer linked. */
export const callerNow = ({ kind, id, personId }: OnBehalf) =>
  one<CallerNow>({}, (sql) => {
    if (kind === 'key') return keyNow(sql, sql`${id}`)
    if (kind === 'channel') return senderNow(sql, sql`${id}`, sql`${personId}::uuid`)
    return sql`select m.role, null as scopes, p.name from member m ${personOf(sql)}
      where m.person_id = ${personId}`
  })

/**
 * Whether the caller in a column may no longer do anything. Only the members of the workspace are
 * read, once for all rows.
 */
export const isGone = (sql: Sql, by: Fragment): Fragment =>
  sql`not case ${by}->>'kind' when 'key' then exists (${keyNow(sql, sql`(${by}->>'id')::uuid`)})
    else coalesce((${by}->>'personId')::uuid in (select person_id from member), false)
      and (${by}->>'kind' <> 'channel' or exists (
      select from channel_identity i where i.id = (${by}->>'id')::uuid
        and i.person_id = (${by}->>'personId')::uuid)) end`
