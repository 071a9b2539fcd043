/** Connections of channels, and the routes by which providers' posts find them. */

import { channelConnectionRecord } from '#contract/records/agent/channel-connection'
import type { Channel, ChannelConnection } from '#domain/agent/channel/channel'
import type { SealedRow } from '#kernel/sealer'
import type { Db, Query } from '../engine/db.ts'
import { many, one, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(channelConnectionRecord)

export const channelConnectionPart = (id: string) =>
  one<ChannelConnection>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'c')} from channel_connection c where c.id = ${id}`,
  )

/** The workspace's connection that has this routing key. */
export const channelConnectionOfKey = (channel: Channel, key: string) =>
  one<{ id: string }>(
    {},
    (sql) =>
      sql`select id from channel_connection where channel = ${channel} and routing_key = ${key}`,
  )

export const channelConnectionCount = sure(
  one<{ total: number }>({}, (sql) => sql`select count(*)::int as total from channel_connection`),
)

/** The channels for which the workspace has a connection that its provider has proven. */
export const routedChannels = many<{ channel: Channel }>(
  {},
  (sql) => sql`select distinct c.channel from channel_connection c
    where exists (select 1 from inbound_route r where r.kind = c.channel and r.key = c.routing_key
      and r.ref_id = c.id)`,
)

export const listChannelConnections =
  ({ limit, after }: Page): Query<ChannelConnection> =>
  (sql) =>
    sql`select ${table.columns(sql, 'c')} from channel_connection c
      where true ${after ? sql`and c.id < ${after}` : sql``}
      order by c.id desc limit ${limit + 1}`

export const channelConnections = (page: Page) =>
  many<ChannelConnection>(table.times, listChannelConnections(page))

/** The row that credentials are sealed for. */
export const channelCredentialsRow = (id: string): SealedRow =>
  `channel_connection/${id}/credentials`

/** The sealed credentials in base64; null if there are none. */
export const channelCredentialsPart = (id: string) =>
  one<{ credentials: string | null }>(
    {},
    (sql) =>
      sql`select encode(credentials, 'base64') as credentials from channel_connection
        where id = ${id}`,
  )

/**
 * What is read for a post that names no connection, at the same cost as for one that does: a row of
 * a connection that does not exist, with these sealed credentials.
 */
export const nobodysConnection = (id: string, sealed: string) => ({
  connection: one<ChannelConnection>(
    table.times,
    (sql) => sql`select ${table.columns(sql, 'c')} from (select ${id}::uuid as id, 'dev' as channel,
      '' as routing_key, '' as display_name,
        'members' as sender_policy, '{}'::jsonb as config, '[]'::jsonb as credential_names,
          'active' as status, null as last_error, null as send_error,
        0 as failures, n.now as checked_at, n.now as last_in_at, n.now as last_out_at,
          n.now as created_at, n.now as updated_at
      from (select clock_timestamp() as now) n) c`,
  ),
  sealed: one<{ credentials: string | null }>(
    {},
    (sql) => sql`select encode(decode(${sealed}, 'base64'), 'base64') as credentials`,
  ),
})

/** Sealed credentials. Undefined leaves them as they are. */
type Sealed = { credentials?: Buffer | null }

export const insertChannelConnection = (connection: ChannelConnection, sealed: Sealed): Query =>
  table.insert(connection, sealed)

export const saveChannelConnection = (connection: ChannelConnection, sealed: Sealed = {}): Query =>
  table.save(connection, sealed)

/** Its senders, codes, messages and replies are deleted with it. */
export const deleteChannelConnection =
  (id: string): Query =>
  (sql) =>
    sql`delete from channel_connection where id = ${id}`

type Routed = Pick<ChannelConnection, 'id' | 'channel' | 'routing_key'>

/** Writes nothing if another connection of the deployment has the key. */
export const insertChannelRoute =
  ({ id, channel, routing_key }: Routed): Query =>
  (sql) =>
    sql`insert into inbound_route (kind, key, ref_id) values (${channel}, ${routing_key}, ${id}) on
      conflict (kind, key) do nothing`

/** Whether the key belongs to this connection in the whole deployment. */
export const hasChannelRoute = ({ id, channel, routing_key }: Routed) =>
  sure(
    one<{ is: boolean }>(
      {},
      (sql) =>
        sql`select exists (select 1 from inbound_route where kind = ${channel}
          and key = ${routing_key} and ref_id = ${id}) as is`,
    ),
  )

const CHALLENGE = 'whatsapp_challenge'

/** `hash`: the SHA-256 of a verify token, in hex. */
export const insertChallengeRoute =
  (id: string, hash: string): Query =>
  (sql) =>
    sql`insert into inbound_route (kind, key, ref_id) values (${CHALLENGE}, ${hash}, ${id}) on
      conflict (kind, key) do nothing`

/** Deletes the routes of former verify tokens. */
export const deleteChallengeRoute =
  (id: string, except: string | null): Query =>
  (sql) =>
    sql`delete from inbound_route where kind = ${CHALLENGE} and ref_id = ${id}
      and key is distinct from ${except}`

/** All routes of a connection. */
export const deleteChannelRoutes =
  ({ id, channel }: Pick<ChannelConnection, 'id' | 'channel'>): Query =>
  (sql) =>
    sql`delete from inbound_route where kind = any(${[channel, CHALLENGE]}) and ref_id = ${id}`

export interface ChannelRoute {
  key: string
  tenant_id: string
  connection_id: string
}

/** Which connections have these routing keys, in the whole deployment. */
export const channelRoutes = (
  db: Db,
  channel: Channel,
  keys: readonly string[],
): Promise<ChannelRoute[]> =>
  db.system(
    async (sql) =>
      await sql<ChannelRoute>`select key, tenant_id, ref_id as connection_id from inbound_route
        where kind = ${channel} and key = any(${[...keys]})`,
  )

/** Whether anybody in the deployment has a proven connection of the channel. */
export const isChannelRouted = (db: Db, channel: Channel): Promise<boolean> =>
  db.system(
    async (sql) =>
      (await sql`select 1 from inbound_route where kind = ${channel} limit 1`).length > 0,
  )

/** Whether a connection of the deployment has this verify token. `hash`: its SHA-256, in hex. */
export const isChallengeRouted = (db: Db, hash: string): Promise<boolean> =>
  db.system(
    async (sql) =>
      (await sql`select 1 from inbound_route where kind = ${CHALLENGE} and key = ${hash}`).length >
      0,
  )
