/** The next free slot of a cadence. */
import { type Calendar, FURTHEST_SLOT_DAYS, hasSlots, nextSlot } from '#domain/growth/drafting/cadence'
import { channelFor } from '#domain/growth/drafting/growth-channel'
import type { Item } from '#domain/growth/drafting/item'
import { fail } from '#kernel/errors'
import type { Sql } from '#store/engine/db'
import { type CalendarEntry, calendarSince } from '#store/growth/calendar'
import { channelNamed } from '#store/growth/growth-channels'
import { currentProfile } from '#store/growth/profiles'

/** No post from longer ago can fall on a local day that has not ended. */
const LONGEST_DAY_MS = 2 * 86_400_000

/** The calendar for items of a kind, without the item that is being moved. */
const calendarOf = async (sql: Sql, { kind, now, without }: { kind: Item['kind']; now: Date; without?: string }): Promise<Calendar> => {
  const since = new Date(now.getTime() - LONGEST_DAY_MS)
  const entries = ((await calendarSince(since)(sql)) as unknown as CalendarEntry[]).filter(({ item_id }) => item_id !== without)
  const { profile } = await currentProfile(sql)
  return {
    zone: profile.time_zone,
    taken: entries.filter(({ ahead }) => ahead).map(({ at }) => at),
    counted: entries.filter((entry) => entry.kind === kind).map(({ at }) => at),
    now,
  }
}

/** The next free slot for an item. Throws `invalid_input` without a cadence, `conflict` without a free slot. */
export const slotFor = async (item: Item, { sql, now }: { sql: Sql; now: Date }): Promise<Date> => {
  const name = channelFor(item.kind)
  const channel = await channelNamed(sql, name)
  if (!channel || !hasSlots(channel.cadence)) {
    const message = `is next_slot, but channel ${name} has no cadence; set its days and times first`
    return fail('invalid_input', `post_at ${message}`, { details: [{ path: 'post_at', message }] })
  }
  const slot = nextSlot(channel.cadence, await calendarOf(sql, { kind: item.kind, now, without: item.id }))
  return slot ?? fail('conflict', `cannot schedule: channel ${name} has no free slot within ${FURTHEST_SLOT_DAYS} days`)
}
