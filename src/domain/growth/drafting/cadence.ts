/**
 * How often to post: the slots of a weekly cadence, and which are free. Local times of a zone,
 * instants in UTC.
 */
import { type growthChannelRecord, weekdays } from '#contract/records/growth/growth-channel'
import type { RowOf } from '#contract/records/record'
import { dayAt } from '#kernel/calendar'

export type Cadence = RowOf<typeof growthChannelRecord>['cadence']

export const noCadence: Cadence = { days: [], times: [], time_zone: null, posts_per_day: null }

export const hasSlots = ({ days, times }: Cadence): boolean => days.length > 0 && times.length > 0

/** The part of a workspace's calendar that slots depend on. */
export interface Calendar {
  /** The zone of cadences that name none. */
  zone: string
  /** Post times of all channels: a slot in the same minute is taken. */
  taken: readonly Date[]
  /** Post times on this channel, past and future: they count towards `posts_per_day`. */
  counted: readonly Date[]
  now: Date
}

/** How many days ahead to search. */
export const FURTHEST_SLOT_DAYS = 60

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/**
 * The slots of one calendar day, in order, without duplicates. A local time that occurs twice means
 * the first; one that is skipped is moved later by the length of the gap.
 */
const slotsOn = (
  day: Temporal.PlainDate,
  { cadence, zone }: { cadence: Cadence; zone: string },
): number[] => {
  if (!cadence.days.includes(weekdays[day.dayOfWeek - 1]!)) return []
  const moments = cadence.times.map(
    (time) => day.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds,
  )
  return [...new Set(moments)].sort((a, b) => a - b)
}

/**
 * Whether a time falls in the minute of a slot. `zone`: the time zone of cadences that name none.
 */
export const isSlot = (
  moment: Date,
  { cadence, zone: usual }: { cadence: Cadence; zone: string },
): boolean => {
  const zone = cadence.time_zone ?? usual
  const day = Temporal.PlainDate.from(dayAt(moment, zone))
  return slotsOn(day, { cadence, zone }).some(
    (slot) => minuteOf(slot) === minuteOf(moment.getTime()),
  )
}

/**
 * All slots from one time (included) to another, soonest first. `zone`: the time zone of cadences
 * that name none.
 */
export function* slotsBetween(
  cadence: Cadence,
  zone: string,
  { from, to }: { from: Date; to: Date },
): Generator<Date, undefined> {
  const last = Temporal.PlainDate.from(dayAt(to, zone)).add({ days: 1 })
  // Around a clock change, a slot can be moved to the next day.
  for (
    let day = Temporal.PlainDate.from(dayAt(from, zone)).subtract({ days: 1 });
    Temporal.PlainDate.compare(day, last) <= 0;
    day = day.add({ days: 1 })
  )
    for (const moment of slotsOn(day, { cadence, zone }))
      if (moment >= from.getTime() && moment < to.getTime()) yield new Date(moment)
}

const minuteOf = (moment: number): number => Math.floor(moment / MINUTE_MS)

/**
 * The free slots of the next `days` days, soonest first. Each slot given out counts against the
 * ones after it.
 */
export function* freeSlots(
  cadence: Cadence,
  { zone: usual, taken, counted, now }: Calendar,
  days: number,
): Generator<Date, undefined> {
  if (!hasSlots(cadence)) return
  const zone = cadence.time_zone ?? usual
  const [from, until] = [now.getTime(), now.getTime() + days * DAY_MS]
  const today = Temporal.PlainDate.from(dayAt(now, zone))
  const busy = new Set(taken.map((moment) => minuteOf(moment.getTime())))
  const perDay = new Map<string, number>()
  // The day of each of thousands of times takes long to find.
  for (const moment of cadence.posts_per_day === null ? [] : counted) {
    const day = dayAt(moment, zone)
    perDay.set(day, (perDay.get(day) ?? 0) + 1)
  }
  // Around a clock change, a slot of yesterday can still be ahead, and `days` times 24 hours can
  // reach one day further.
  for (let ahead = -1; ahead <= days + 1; ahead++) {
    for (const moment of slotsOn(today.add({ days: ahead }), { cadence, zone })) {
      const on = dayAt(new Date(moment), zone)
      const used = perDay.get(on) ?? 0
      if (moment <= from || moment > until || busy.has(minuteOf(moment))) continue
      if (cadence.posts_per_day !== null && used >= cadence.posts_per_day) continue
      perDay.set(on, used + 1)
      busy.add(minuteOf(moment))
      yield new Date(moment)
    }
  }
}

/** The next free slot, or undefined if none is free within `FURTHEST_SLOT_DAYS`. */
export const nextSlot = (cadence: Cadence, calendar: Calendar): Date | undefined =>
  freeSlots(cadence, calendar, FURTHEST_SLOT_DAYS).next().value

/** The free slots of the next days. */
export const gapsInCadence = (cadence: Cadence, calendar: Calendar, days: number): Date[] => [
  ...freeSlots(cadence, calendar, Math.min(days, FURTHEST_SLOT_DAYS)),
]

/** Sorts days and times, and removes duplicates. */
export const tidyCadence = (cadence: Cadence): Cadence => ({
  ...cadence,
  days: weekdays.filter((day) => cadence.days.includes(day)),
  times: [...new Set(cadence.times)].sort(),
})
