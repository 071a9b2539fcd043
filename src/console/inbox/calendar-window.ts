/** The part of the calendar that a decision looks at. */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Yesterday, for what stands before a slot, and so many days from now: the same for an hour. */
export const calendarWindow = (days: number): { from: string; to: string } => {
  const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  return {
    from: new Date(hour - DAY_MS).toISOString(),
    to: new Date(hour + days * DAY_MS).toISOString(),
  }
}
