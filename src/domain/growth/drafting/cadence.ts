/** How often to post: the slots that a week of days and times gives, and which of them are free. Clocks of a time zone, moments in UTC. */
import { dayAt } from '#kernel/calendar'

/** In the order of the week. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
type Weekday = (typeof weekdays)[number]

/** Without days or without times there is no slot. */
export interface Cadence {
  days: Weekday[]
  /** `HH:MM` on the clocks of the time zone. */
  times: string[]
  /** An IANA name; null: the profile's. */
  time_zone: string | null
  /** Null: as many as there are times. */
  posts_per_day: number | null
}

export const noCadence: Cadence = { days: [], times: [], time_zone: null, posts_per_day: null }

export const hasSlots = ({ days, times }: Cadence): boolean => days.length > 0 && times.length > 0

/** What of the workspace decides which slots are free. */
export interface Calendar {
  /** Where the cadence names no time zone. */
  zone: string
  /** When posts of any kind go out: a slot in the same minute is taken. */
  taken: readonly Date[]
  /** When posts of this channel go out or went out: they count towards posts_per_day. */
  counted: readonly Date[]
  now: Date
}

/** A slot is looked for so many days ahead. */
export const FURTHEST_SLOT_DAYS = 60

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/**
 * The slots of one calendar day, in their order, each once. A time that the clocks show twice is the first of the two; one that
 * they leave out comes as long after the gap's beginning as it would have without the gap.
 */
const slotsOn = (day: Temporal.PlainDate, { cadence, zone }: { cadence: Cadence; zone: string }): number[] => {
  if (!cadence.days.includes(weekdays[day.dayOfWeek - 1]!)) return []
  const moments = cadence.times.map((time) => day.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds)
  return [...new Set(moments)].sort((a, b) => a - b)
}

const minuteOf = (moment: number): number => Math.floor(moment / MINUTE_MS)

/** The free slots of a cadence after now, the next one first, up to `days` days ahead; each leaves room for those before it. */
export function* freeSlots(cadence: Cadence, { zone: usual, taken, counted, now }: Calendar, days: number): Generator<Date, undefined> {
  if (!hasSlots(cadence)) return
  const zone = cadence.time_zone ?? usual
  const [from, until] = [now.getTime(), now.getTime() + days * DAY_MS]
  const today = Temporal.PlainDate.from(dayAt(now, zone))
  const busy = new Set(taken.map((moment) => minuteOf(moment.getTime())))
  const perDay = new Map<string, number>()
  for (const moment of counted) {
    const day = dayAt(moment, zone)
    perDay.set(day, (perDay.get(day) ?? 0) + 1)
  }
  // Where the clocks change, a slot of yesterday can be still to come, and `days` times 24 hours can reach into one day more.
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

/** The next free slot; undefined where there is none within `FURTHEST_SLOT_DAYS` days. */
export const nextSlot = (cadence: Cadence, calendar: Calendar): Date | undefined =>
  freeSlots(cadence, calendar, FURTHEST_SLOT_DAYS).next().value

/** The free slots of the next days: how many posts are missing, and when. */
export const gapsInCadence = (cadence: Cadence, calendar: Calendar, days: number): Date[] => [
  ...freeSlots(cadence, calendar, Math.min(days, FURTHEST_SLOT_DAYS)),
]

/** Days in the order of the week and times in the order of the day, each once. */
export const tidyCadence = (cadence: Cadence): Cadence => ({
  ...cadence,
  days: weekdays.filter((day) => cadence.days.includes(day)),
  times: [...new Set(cadence.times)].sort(),
})
