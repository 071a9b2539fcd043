import {
  type ChannelName,
  channelOfRow,
  type GrowthChannel,
  type StoredChannel,
} from '#domain/growth/drafting/growth-channel'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { many, mapped, one } from '../engine/load.ts'

const columns = (sql: Sql): Fragment =>
  sql`id, name, status, format_rules, cadence, created_at, updated_at`

/** Channels as rows, a handful for each workspace; `channelOfRow` completes them. */
export const growthChannels: Query<StoredChannel> = (sql) =>
  sql`select ${columns(sql)} from growth_channel order by id limit 100`

const named =
  (name: ChannelName): Query<StoredChannel> =>
  (sql) =>
    sql`select ${columns(sql)} from growth_channel where name = ${name}`

/** Undefined if the workspace has no such channel: then there are no rules. */
export const channelNamed = async (
  sql: Sql,
  name: ChannelName,
): Promise<GrowthChannel | undefined> => {
  const [row] = await named(name)(sql)
  return rowOf(row)
}

const channelTimes = { created_at: true, updated_at: true } as const
const rowOf = (row: StoredChannel | undefined): GrowthChannel | undefined =>
  row && channelOfRow(row)

export const allChannels = mapped(many<StoredChannel>(channelTimes, growthChannels), (rows) =>
  rows.map(channelOfRow),
)

export const channelById = (id: string) =>
  mapped(
    one<StoredChannel>(
      channelTimes,
      (sql) => sql`select ${columns(sql)} from growth_channel where id = ${id}`,
    ),
    rowOf,
  )

export const channelPart = (name: ChannelName) =>
  mapped(one<StoredChannel>(channelTimes, named(name)), rowOf)

/** Those of these names that the workspace has. */
export const channelsPart = (names: ChannelName[]) =>
  mapped(
    many<StoredChannel>(
      channelTimes,
      (sql) => sql`select ${columns(sql)} from growth_channel where name = any(${names}::text[])`,
    ),
    (rows) => rows.map(channelOfRow),
  )

export const saveChannel =
  ({ id, status, format_rules, cadence, updated_at }: GrowthChannel): Query =>
  (sql) =>
    sql`update growth_channel set status = ${status}, format_rules = ${sql.json(format_rules)},
      cadence = ${sql.json(cadence)},
      updated_at = ${updated_at} where id = ${id}`
