/** Members of a workspace, as the workspace sees them. */
import type { Decider } from '#kernel/deciders'
import type { Role } from '#kernel/roles'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, mapPart, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { writing } from '../engine/sql.ts'
import { emailStatus, type Person } from './people.ts'

export interface MemberRow extends Person {
  former_email: string | null
  role: Role
  joined_at: Date
}

const columns = (sql: Sql): Fragment =>
  sql`p.id, p.email, ${emailStatus(sql)}, p.former_email, p.name, m.role, m.created_at as joined_at`

/**
 * Looks up each person by id: `offset 0` keeps the planner from scanning all people of the
 * deployment.
 */
const withPerson = (sql: Sql): Fragment =>
  sql`member m cross join lateral (select id, email, email_key, email_verified_at, former_email,
    name from person where id = m.person_id offset 0) p`

export const listMembers =
  ({ limit, after }: Page): Query<MemberRow> =>
  (sql) =>
    sql`select ${columns(sql)} from ${withPerson(sql)}
      ${after ? sql`where m.person_id < ${after}` : sql``} order by m.person_id desc
      limit ${limit + 1}`

export const memberPart = (personId: string) =>
  one<MemberRow>(
    { joined_at: true },
    (sql) => sql`select ${columns(sql)} from ${withPerson(sql)} where m.person_id = ${personId}`,
  )

/**
 * How many members are looked at, at most. Owners come first, because they can decide everything.
 */
const MOST_DECIDERS = 50

/** Members, the most powerful first. */
export const decidersPart = many<Decider>(
  {},
  (sql) => sql`select p.id, p.name, m.role from ${withPerson(sql)}
    order by array_position(array['owner', 'approver', 'editor', 'viewer'], m.role), m.created_at,
      m.person_id limit ${MOST_DECIDERS}`,
)

/** Roles that members have, or that invited people may take. */
export const rolesToCome = mapPart(
  many<{ role: Role }>(
    {},
    (sql) => sql`select role from member union select role from invitation
      where accepted_at is null and revoked_at is null and expires_at > clock_timestamp()`,
  ),
  (rows) => rows.map(({ role }) => role),
)

/**
 * Stays exact for the duration of a letter if it is read after the letter's gate, because whatever
 * else reduces the number of owners holds the gate's lock.
 */
export const ownerCount = mapPart(
  sure(
    one<{ owners: number }>(
      {},
      (sql) => sql`select count(*)::int as owners from member where role = 'owner'`,
    ),
  ),
  ({ owners }) => owners,
)

/** Returns a row if the workspace has an owner. */
export const anOwner: Query<{ tenant_id: string }> = (sql) =>
  sql`select tenant_id from member where role = 'owner' limit 1`

export const setRole =
  (personId: string, role: Role, now: Date): Query =>
  (sql) =>
    sql`update member set role = ${role}, updated_at = ${now} where person_id = ${personId}`

/** Ends everything a person has in the workspace, so that joining again restores none of it. */
export const endMembership = (personId: string, now: Date): Query[] => [
  (sql) => sql`delete from member where person_id = ${personId}`,
  writing(
    { table: 'api_key', rows: 'some' },
    (sql) =>
      sql`update api_key set revoked_at = ${now} where person_id = ${personId} and revoked_at is null`,
  ),
  writing(
    { table: 'session', rows: 'some' },
    (sql) =>
      sql`update session set revoked_at = ${now} where person_id = ${personId} and revoked_at is null`,
  ),
  withdrawInvitationsOf(personId, now),
  // Otherwise, whoever writes as this sender would act as the member again.
  writing(
    { table: 'channel_identity', rows: 'some' },
    (sql) => sql`delete from channel_identity where person_id = ${personId}`,
  ),
  (sql) => sql`delete from channel_link_code where person_id = ${personId}`,
  // What was private to the person stays private. Other people who were added keep access.
  writing(
    { table: 'agent_conversation', rows: 'some' },
    (sql) => sql`update agent_conversation set people = people - ${personId}::text,
    person_id = case when person_id = ${personId} and visibility = 'private' then null
      else person_id end
    where people @> ${sql.json([personId])}::jsonb or (person_id = ${personId}
      and visibility = 'private')`,
  ),
]

/** Otherwise, a link that somebody kept would undo the removal. */
export const withdrawInvitationsOf = (personId: string, now: Date): Query =>
  writing(
    { table: 'invitation', rows: 'some' },
    (sql) =>
      sql`update invitation set revoked_at = ${now} where invited_by = ${personId}
        and accepted_at is null and revoked_at is null`,
  )

/** A member's id and email, as audit rows name them. */
export const personPart = (personId: string) =>
  sure(
    one<{ id: string; email: string | null }>(
      {},
      (sql) => sql`select id, email from person where id = ${personId}`,
    ),
  )

export const isMember = (emailKey: string) =>
  mapPart(
    one<{ id: string }>(
      {},
      (sql) => sql`select p.id from ${withPerson(sql)} where p.email_key = ${emailKey} limit 1`,
    ),
    (member) => member !== undefined,
  )
