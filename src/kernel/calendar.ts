/**
 * Days and hours on the clocks of an IANA time zone. A day is written `2026-11-16`; a time is a
 * `Date`.
 */

const clocksAt = (at: Date, timeZone: string): Temporal.ZonedDateTime =>
  at.toTemporalInstant().toZonedDateTimeISO(timeZone)

/** The day that the zone's clocks show at a time. */
export const dayAt = (at: Date, timeZone: string): string =>
  clocksAt(at, timeZone).toPlainDate().toString()

/** The day and the minute, as `2026-11-16 09:00`. */
export const timeAt = (at: Date, timeZone: string): string =>
  clocksAt(at, timeZone).toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ')

/** 0 to 23. */
export const hourAt = (at: Date, timeZone: string): number => clocksAt(at, timeZone).hour

/** 1 is Monday, 7 is Sunday. */
export const weekdayAt = (at: Date, timeZone: string): number => clocksAt(at, timeZone).dayOfWeek

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** Whether the calendar has this day: it has no 30 February. */
export const isDay = (day: string): boolean => {
  try {
    return DAY.test(day) && Temporal.PlainDate.from(day) !== undefined
  } catch {
    return false
  }
}

export const addDays = (day: string, days: number): string =>
  Temporal.PlainDate.from(day).add({ days }).toString()

/** The Monday on or before a day. */
export const mondayOf = (day: string): string =>
  addDays(day, 1 - Temporal.PlainDate.from(day).dayOfWeek)

/**
 * The first moment of a day, or of the next day if the clocks skip the whole day. Not every day has
 * a midnight.
 */
export const startOfDay = (day: string, timeZone: string): Date =>
  new Date(Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds)
