/** Invitations as their workspace sees them. invitations.ts looks one up by its link. */
import type { Role } from '#kernel/roles'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { mapped, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'

export interface InvitationRow {
  id: string
  email: string | null
  role: Role
  status: 'open' | 'accepted' | 'revoked' | 'expired'
  invited_by: string | null
  created_at: Date
  expires_at: Date
  accepted_at: Date | null
  accepted_by: string | null
  revoked_at: Date | null
}

const columns = (
  sql: Sql,
): Fragment => sql`id, email, role, invited_by, created_at, expires_at, accepted_at, accepted_by,
  revoked_at,
  case when accepted_at is not null then 'accepted' when revoked_at is not null then 'revoked'
    when expires_at <= clock_timestamp() then 'expired' else 'open' end as status`

export const listInvitations =
  ({ limit, after }: Page): Query<InvitationRow> =>
  (sql) =>
    sql`select ${columns(sql)} from invitation ${after ? sql`where id < ${after}` : sql``}
      order by id desc limit ${limit + 1}`

/**
 * Locks the invitation until the letter ends. A simultaneous acceptance waits, and then finds it
 * withdrawn.
 */
export const lockInvitation = async (sql: Sql, id: string): Promise<InvitationRow | undefined> =>
  (await sql<InvitationRow>`select ${columns(sql)} from invitation where id = ${id} for update`)[0]

export const openInvitations = mapped(
  sure(
    one<{ open: number }>(
      {},
      (sql) => sql`select count(*)::int as open from invitation
        where accepted_at is null and revoked_at is null and expires_at > clock_timestamp()`,
    ),
  ),
  ({ open }) => open,
)

export type NewInvitation = Pick<
  InvitationRow,
  'id' | 'email' | 'role' | 'invited_by' | 'created_at' | 'expires_at'
> & {
  token_hash: Buffer
}

export const addInvitation =
  (invitation: NewInvitation): Query =>
  (sql) =>
    sql`insert into invitation ${sql(invitation)}`

export const withdrawInvitation =
  (id: string, now: Date): Query =>
  (sql) =>
    sql`update invitation set revoked_at = ${now} where id = ${id}`
