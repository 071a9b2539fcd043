import { type ChannelName, channelOfRow, type GrowthChannel, type StoredChannel } from '#domain/growth/drafting/growth-channel'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'

const columns = (sql: Sql): Fragment => sql`id, name, status, format_rules, cadence, created_at, updated_at`

/** Channels as rows, a handful for each workspace; `channelOfRow` completes them. */
export const growthChannels: Query = (sql) => sql`select ${columns(sql)} from growth_channel order by id limit 100`

/** Undefined if the workspace has no such channel: then there are no rules. */
export const channelNamed = async (sql: Sql, name: ChannelName): Promise<GrowthChannel | undefined> => {
  const [row] = await sql`select ${columns(sql)} from growth_channel where name = ${name}`
  return row ? channelOfRow(row as StoredChannel) : undefined
}

export const lockChannel = async (sql: Sql, id: string): Promise<GrowthChannel> =>
  channelOfRow(
    ((await sql`select ${columns(sql)} from growth_channel where id = ${id} for update`)[0] as StoredChannel | undefined) ??
      fail('not_found', 'no such channel'),
  )

export const saveChannel =
  ({ id, status, format_rules, cadence, updated_at }: GrowthChannel): Query =>
  (sql) =>
    sql`update growth_channel set status = ${status}, format_rules = ${sql.json(format_rules as never)}, cadence = ${sql.json(cadence as never)},
      updated_at = ${updated_at} where id = ${id}`
