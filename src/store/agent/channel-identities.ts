/** Senders in channels who are members, and the codes by which they prove it. */
import { channelIdentityRecord } from '#contract/records/agent/channel-connection'
import type { Channel } from '#domain/agent/channel/channel'
import type { ChannelIdentity } from '#domain/agent/channel/identity'
import type { Role } from '#kernel/roles'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(channelIdentityRecord)

/** A sender whose person has left the workspace is not an identity. */
const identities = (sql: Sql): Fragment =>
  sql`channel_identity i join member m on m.tenant_id = i.tenant_id and m.person_id = i.person_id`

/** With the name of the member. */
const withName = (sql: Sql): Fragment =>
  sql`${table.columns(sql, 'i')},
    (select p.name from person p where p.id = i.person_id) as person_name`

export const identityOfSender = (connectionId: string, sender: string) =>
  one<ChannelIdentity>(
    table.times,
    (sql) =>
      sql`select ${table.columns(sql, 'i')} from ${identities(sql)} where i.connection_id = ${connectionId}
        and i.external_id = ${sender}`,
  )

export const identityPart = (connectionId: string, id: string) =>
  one<ChannelIdentity>(
    table.times,
    (sql) =>
      sql`select ${withName(sql)} from channel_identity i where i.connection_id = ${connectionId}
        and i.id = ${id}`,
  )

/** Newest first. */
export const identitiesOf = (connectionId: string, { limit, after }: Page) =>
  many<ChannelIdentity>(
    table.times,
    (
      sql,
    ) => sql`select ${withName(sql)} from ${identities(sql)} where i.connection_id = ${connectionId}
      ${after ? sql`and i.id < ${after}` : sql``} order by i.id desc limit ${limit + 1}`,
  )

/** A member who may decide, in a channel where such members are told of every call that waits. */
export interface ToldApprover {
  id: string
  connection_id: string
  channel: Channel
  sender: string
  sender_name: string | null
  reply_to: Record<string, unknown>
  role: Role
}

export const toldApprovers = (most: number) =>
  many<ToldApprover>(
    {},
    (sql) => sql`select i.id, i.connection_id, c.channel, i.external_id as sender,
      i.name as sender_name, i.reply_to, m.role
      from channel_connection c join ${identities(sql)} on i.connection_id = c.id
      where c.config->>'approvals' = 'all' and c.status = 'active' and i.reply_to is not null
        and m.role <> 'viewer'
      order by array_position(array['owner', 'approver', 'editor'], m.role), i.id limit ${most}`,
  )

/** Replaces the identity of a person who has left. */
export const insertIdentity = (identity: ChannelIdentity): Query =>
  table.insert(
    identity,
    {},
    (sql) => sql`on conflict (tenant_id, connection_id, external_id) do update set
      id = excluded.id, name = excluded.name, person_id = excluded.person_id,
      reply_to = excluded.reply_to, verified_at = excluded.verified_at,
      created_at = excluded.created_at, updated_at = excluded.updated_at`,
  )

export const deleteIdentity =
  (id: string): Query =>
  (sql) =>
    sql`delete from channel_identity where id = ${id}`

export const identityCount = (connectionId: string) =>
  sure(
    one<{ total: number }>(
      {},
      (sql) =>
        sql`select count(*)::int as total from channel_identity i
          where i.connection_id = ${connectionId}`,
    ),
  )

/** Forgets all senders of the channel, and all codes that could link them. */
export const unlinkAll = (connectionId: string): Query[] => [
  (sql) => sql`delete from channel_identity where connection_id = ${connectionId}`,
  (sql) => sql`delete from channel_link_code where connection_id = ${connectionId}`,
]

interface Code {
  connectionId: string
  personId: string
  hash: string
  expiresAt: Date
}

/** Replaces the person's last code for this connection. */
export const putLinkCode =
  ({ connectionId, personId, hash, expiresAt }: Code): Query =>
  (sql) => {
    const row = {
      connection_id: connectionId,
      person_id: personId,
      code_hash: hash,
      expires_at: expiresAt,
    }
    return sql`insert into channel_link_code ${sql(row)} on conflict (tenant_id, connection_id,
      person_id) do update
      set code_hash = excluded.code_hash, expires_at = excluded.expires_at, sender = null`
  }

/** The first code has arrived. It is replaced by a second one, which must come from this sender. */
export const putSecondCode =
  ({ connectionId, personId, hash, expiresAt, sender }: Code & { sender: string }): Query =>
  (sql) =>
    sql`update channel_link_code set code_hash = ${hash}, expires_at = ${expiresAt},
      sender = ${sender}
      where connection_id = ${connectionId} and person_id = ${personId}`

/**
 * The member whose code it is, if it can still be used. `sender`: for a second code, the sender
 * whom it was sent to.
 */
export const memberOfCode = (connectionId: string, hash: string) =>
  one<{ person_id: string; sender: string | null }>(
    {},
    (sql) => sql`select l.person_id, l.sender from channel_link_code l
      join member m on m.tenant_id = l.tenant_id and m.person_id = l.person_id
      where l.connection_id = ${connectionId} and l.code_hash = ${hash}
        and l.expires_at > clock_timestamp()`,
  )

export const deleteLinkCode =
  ({ connectionId, personId }: Pick<Code, 'connectionId' | 'personId'>): Query =>
  (sql) =>
    sql`delete from channel_link_code where connection_id = ${connectionId}
      and person_id = ${personId}`
