/** How often to post: the slots that a week of days and times gives, and which of them are free. Clocks of a time zone, moments in UTC. */

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

/** One format for each zone: making one costs more than a year of slots. */
const formats = new Map<string, Intl.DateTimeFormat>()
const MOST_FORMATS = 500

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone)
  if (known) return known
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    ...parts,
  })
  if (formats.size >= MOST_FORMATS) formats.clear()
  formats.set(zone, format)
  return format
}

/** What the clocks of a zone show at a moment, as if they were UTC. */
const clockAt = (zone: string, moment: number): number => {
  const part: Record<string, number> = {}
  for (const { type, value } of formatOf(zone).formatToParts(moment)) part[type] = Number(value)
  return Date.UTC(part.year!, part.month! - 1, part.day, part.hour, part.minute, part.second)
}

/** How far the clocks of a zone are ahead of UTC at a moment, in milliseconds. */
const offsetAt = (zone: string, moment: number): number => clockAt(zone, moment) - Math.floor(moment / 1_000) * 1_000

/** A calendar day of a zone, as its midnight in UTC. */
const dayAt = (zone: string, moment: number): number => Math.floor(clockAt(zone, moment) / DAY_MS) * DAY_MS

/**
 * When the clocks of a day show a time, given how far they are ahead before and after that day. A time that they show twice is
 * the first of the two; one that they leave out comes as long after the gap's beginning as it would have without the gap.
 */
const momentOf = (wall: number, { zone, before, after }: { zone: string; before: number; after: number }): number => {
  if (before === after) return wall - before
  const shown = [wall - before, wall - after].filter((moment) => clockAt(zone, moment) === wall)
  return shown.length > 0 ? Math.min(...shown) : wall - before
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/** The slots of one calendar day, in their order, each once. */
const slotsOn = (day: number, { cadence, zone }: { cadence: Cadence; zone: string }): number[] => {
  // Monday is the first; the first of January 1970 was a Thursday.
  const weekday = weekdays[(Math.floor(day / DAY_MS) + 3) % 7]!
  if (!cadence.days.includes(weekday)) return []
  // Zones lie at most 14 hours from UTC, so a day on either side is before and after this one everywhere.
  const clocks = { zone, before: offsetAt(zone, day - DAY_MS), after: offsetAt(zone, day + 2 * DAY_MS) }
  const moments = cadence.times.map((time) => momentOf(day + minutesOf(time) * MINUTE_MS, clocks))
  return [...new Set(moments)].sort((a, b) => a - b)
}

const minuteOf = (moment: number): number => Math.floor(moment / MINUTE_MS)

/** The free slots of a cadence after now, the next one first, up to `days` days ahead; each leaves room for those before it. */
export function* freeSlots(cadence: Cadence, { zone: usual, taken, counted, now }: Calendar, days: number): Generator<Date, undefined> {
  if (!hasSlots(cadence)) return
  const zone = cadence.time_zone ?? usual
  const [from, until] = [now.getTime(), now.getTime() + days * DAY_MS]
  const busy = new Set(taken.map((moment) => minuteOf(moment.getTime())))
  const perDay = new Map<number, number>()
  for (const moment of counted) {
    const day = dayAt(zone, moment.getTime())
    perDay.set(day, (perDay.get(day) ?? 0) + 1)
  }
  for (let day = dayAt(zone, from) - DAY_MS; day <= until + DAY_MS; day += DAY_MS) {
    for (const moment of slotsOn(day, { cadence, zone })) {
      const on = dayAt(zone, moment)
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
