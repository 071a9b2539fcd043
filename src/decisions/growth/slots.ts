/** The next free slot of a cadence. */
import {
  type Calendar,
  FURTHEST_SLOT_DAYS,
  hasSlots,
  nextSlot,
} from '#domain/growth/drafting/cadence'
import { channelFor, type GrowthChannel } from '#domain/growth/drafting/growth-channel'
import type { Item } from '#domain/growth/drafting/item'
import type { Profile } from '#domain/growth/drafting/profile'
import { refuseNaming } from '#domain/growth/way-on'
import { fail } from '#kernel/errors'
import type { CalendarEntry } from '#store/growth/calendar'

interface Slots {
  channels: readonly GrowthChannel[]
  calendar: CalendarEntry[]
  profile: Profile
  now: Date
}

/** The calendar for an item's kind, without the item that is being moved. */
const calendarFor = ({ id, kind }: Item, { calendar, profile, now }: Slots): Calendar => {
  const entries = calendar.filter(({ item_id }) => item_id !== id)
  return {
    zone: profile.time_zone,
    taken: entries.filter(({ ahead }) => ahead).map(({ at }) => at),
    counted: entries.filter((entry) => entry.kind === kind).map(({ at }) => at),
    now,
  }
}

/**
 * The next free slot for an item. Throws `invalid_input` without a cadence, `conflict` without a
 * free slot.
 */
export const slotFor = (item: Item, slots: Slots): Date => {
  const name = channelFor(item.kind)
  const channel = slots.channels.find((one) => one.name === name)
  if (!channel || !hasSlots(channel.cadence)) {
    const message = `is next_slot, but channel ${name} has no cadence; set its days and times first`
    return fail('invalid_input', `post_at ${message}`, { details: [{ path: 'post_at', message }] })
  }
  const slot = nextSlot(channel.cadence, calendarFor(item, slots))
  const none = `cannot schedule: channel ${name} has no free slot within ${FURTHEST_SLOT_DAYS} days; give a time, or add times to its cadence`
  return slot ?? refuseNaming(none, 'growth.channels.update', channel.id)
}
