/** The calendar of a workspace: what is scheduled and posted, next to the slots of its cadences. */
import { dayAt } from '#kernel/calendar'
import { type Cadence, slotsBetween } from './cadence.ts'

export interface Dated {
  id: string
  channel: string
  at: Date
  posted: boolean
}

export interface CalendarEntry<D extends Dated> {
  at: Date
  channel: string
  slot: Date | null
  item: D | null
}

interface Range {
  from: Date
  to: Date
}

interface Channel {
  name: string
  cadence: Cadence
}

/**
 * A post that is less than an hour overdue still goes out, so a post this long after a slot can
 * belong to that slot.
 */
const LATEST_MS = 3_600_000
const MINUTE_MS = 60_000

const minuteOf = (at: Date): number => Math.floor(at.getTime() / MINUTE_MS)

const holds = (item: Dated, slot: Date): boolean => {
  if (minuteOf(item.at) === minuteOf(slot)) return true
  const late = item.at.getTime() - slot.getTime()
  return item.posted && late >= 0 && late < LATEST_MS
}

/**
 * For each item of a channel, the slot that it fills: the last one before it, unless another item
 * already fills that.
 */
const holdSlots = (slots: readonly Date[], items: readonly Dated[]): Map<string, Date> => {
  const taken = new Set<Date>()
  const found = new Map<string, Date>()
  for (const item of items) {
    const slot = slots.findLast((one) => !taken.has(one) && holds(item, one))
    if (slot) found.set(item.id, slot)
    if (slot) taken.add(slot)
  }
  return found
}

/**
 * Slots that no item fills, on days that have room: if the cadence limits the posts of a day, a
 * full day has none.
 */
const freeOf = (
  slots: readonly Date[],
  busy: ReadonlySet<number>,
  { cadence, items, zone }: { cadence: Cadence; items: readonly Dated[]; zone: string },
): Date[] => {
  const perDay = new Map<string, number>()
  const add = (day: string): void => void perDay.set(day, (perDay.get(day) ?? 0) + 1)
  for (const { at } of items) add(dayAt(at, zone))
  return slots.filter((slot) => {
    const day = dayAt(slot, zone)
    if (
      busy.has(minuteOf(slot)) ||
      (cadence.posts_per_day !== null && (perDay.get(day) ?? 0) >= cadence.posts_per_day)
    )
      return false
    add(day)
    return true
  })
}

/**
 * `items`: sorted by time, including those of the day before and the day after the range. `zone`:
 * the time zone of cadences that name none.
 */
export const calendarEntries = <D extends Dated>(
  { from, to }: Range,
  { items, channels, zone }: { items: readonly D[]; channels: readonly Channel[]; zone: string },
): CalendarEntry<D>[] => {
  const isInside = (at: Date): boolean => at >= from && at < to
  const slotOf = new Map<string, Date>()
  const free: CalendarEntry<D>[] = []
  for (const { name, cadence } of channels) {
    const own = items.filter(({ channel }) => channel === name)
    const local = cadence.time_zone ?? zone
    const slots = [
      ...slotsBetween(cadence, local, { from: new Date(from.getTime() - LATEST_MS), to }),
    ]
    const holding = holdSlots(slots, own)
    for (const [id, slot] of holding) slotOf.set(id, slot)
    const busy = new Set([
      ...[...holding.values()].map(minuteOf),
      ...items.filter(({ posted }) => !posted).map(({ at }) => minuteOf(at)),
    ])
    const open = freeOf(slots, busy, { cadence, items: own, zone: local })
    free.push(...open.filter(isInside).map((at) => ({ at, channel: name, slot: at, item: null })))
  }
  const dated = items
    .filter(({ at }) => isInside(at))
    .map((item) => ({
      at: item.at,
      channel: item.channel,
      slot: slotOf.get(item.id) ?? null,
      item,
    }))
  return [...dated, ...free].sort((one, other) => one.at.getTime() - other.at.getTime())
}
