/** Days on the clocks of an IANA time zone. A day is written `2026-11-16`; times are points in time. */

const formats = new Map<string, Intl.DateTimeFormat>()
/** Formats are large, and there are only so many zones. */
const MOST_KNOWN = 600

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  if (formats.size >= MOST_KNOWN) formats.clear()
  formats.set(timeZone, format)
  return format
}

/** The day that clocks show at a time. */
export const dayAt = (at: Date, timeZone: string): string => {
  const parts = formatOf(timeZone).formatToParts(at)
  const part = (type: string): string => parts.find((one) => one.type === type)!.value
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`
}

const DAY_MS = 86_400_000

const utc = (day: string): number => Date.parse(`${day}T00:00:00Z`)

/** Whether this is a day of the calendar: 30 February is none. */
export const isDay = (day: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(utc(day)) && new Date(utc(day)).toISOString().startsWith(day)

export const addDays = (day: string, days: number): string => new Date(utc(day) + days * DAY_MS).toISOString().slice(0, 10)

/** The Monday on or before a day. */
export const mondayOf = (day: string): string => addDays(day, -((new Date(utc(day)).getUTCDay() + 6) % 7))

/** No clock is further from UTC, and none changes by as much. */
const FURTHEST_MS = 27 * 3_600_000

/**
 * When a day begins: the first second at which clocks show it, or a later day where they skip it. Not every day has a midnight.
 */
export const startOfDay = (day: string, timeZone: string): Date => {
  let [before, from] = [(utc(day) - FURTHEST_MS) / 1_000, (utc(day) + FURTHEST_MS) / 1_000]
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2)
    if (dayAt(new Date(middle * 1_000), timeZone) >= day) from = middle
    else before = middle
  }
  return new Date(from * 1_000)
}
