import { growthChannelRecord } from '#contract/records/growth/growth-channel'
import {
  channelOfRow,
  type GrowthChannel,
  type GrowthChannelName,
  type StoredChannel,
} from '#domain/growth/drafting/growth-channel'
import type { Query, Sql } from '../engine/db.ts'
import { many, mapPart, one } from '../engine/load.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(growthChannelRecord)
const { columns, times } = table

/** Channels as rows. A workspace has only a handful. `channelOfRow` completes them. */
export const growthChannels: Query<StoredChannel> = (sql) =>
  sql`select ${columns(sql)} from growth_channel order by id limit 100`

const readNamed =
  (name: GrowthChannelName): Query<StoredChannel> =>
  (sql) =>
    sql`select ${columns(sql)} from growth_channel where name = ${name}`

/** Undefined if the workspace has no such channel, in which case there are no rules. */
export const channelNamed = async (
  sql: Sql,
  name: GrowthChannelName,
): Promise<GrowthChannel | undefined> => {
  const [row] = await readNamed(name)(sql)
  return rowOf(row)
}

const rowOf = (row: StoredChannel | undefined): GrowthChannel | undefined =>
  row && channelOfRow(row)

export const allChannels = mapPart(many<StoredChannel>(times, growthChannels), (rows) =>
  rows.map(channelOfRow),
)

export const channelById = (id: string) =>
  mapPart(
    one<StoredChannel>(
      times,
      (sql) => sql`select ${columns(sql)} from growth_channel where id = ${id}`,
    ),
    rowOf,
  )

export const channelPart = (name: GrowthChannelName) =>
  mapPart(one<StoredChannel>(times, readNamed(name)), rowOf)

/** The channels among these names that the workspace has. */
export const channelsPart = (names: GrowthChannelName[]) =>
  mapPart(
    many<StoredChannel>(
      times,
      (sql) => sql`select ${columns(sql)} from growth_channel where name = any(${names}::text[])`,
    ),
    (rows) => rows.map(channelOfRow),
  )

export const { save: saveChannel } = table
