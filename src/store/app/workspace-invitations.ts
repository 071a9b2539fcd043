/** Invitations as their workspace sees them. invitations.ts looks one up by its link. */
import { invitationRecord } from '#contract/records/app/invitation'
import type { RowOf } from '#contract/records/record'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { mapPart, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(invitationRecord)

type NewInvitation = RowOf<typeof invitationRecord>
type InvitationRow = NewInvitation & { status: NonNullable<NewInvitation['status']> }

const columns = (sql: Sql): Fragment =>
  sql`${table.columns(sql)},
    case when accepted_at is not null then 'accepted' when revoked_at is not null then 'revoked'
      when expires_at <= clock_timestamp() then 'expired' else 'open' end as status`

export const listInvitations =
  ({ limit, after }: Page): Query<InvitationRow> =>
  (sql) =>
    sql`select ${columns(sql)} from invitation ${after ? sql`where id < ${after}` : sql``}
      order by id desc limit ${limit + 1}`

/**
 * Locks the invitation until the letter ends. A simultaneous acceptance waits for it, and then
 * finds the invitation withdrawn.
 */
export const lockInvitation = async (sql: Sql, id: string): Promise<InvitationRow | undefined> =>
  (await sql<InvitationRow>`select ${columns(sql)} from invitation where id = ${id} for update`)[0]

export const openInvitations = mapPart(
  sure(
    one<{ open: number }>(
      {},
      (sql) => sql`select count(*)::int as open from invitation
        where accepted_at is null and revoked_at is null and expires_at > clock_timestamp()`,
    ),
  ),
  ({ open }) => open,
)

export const addInvitation = (invitation: NewInvitation, token_hash: Buffer): Query =>
  table.insert(invitation, { token_hash })

export const withdrawInvitation =
  (id: string, now: Date): Query =>
  (sql) =>
    sql`update invitation set revoked_at = ${now} where id = ${id}`
