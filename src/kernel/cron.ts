/** Five-field cron patterns in an IANA time zone. */
import { Cron } from 'croner'
import { LRUCache } from 'lru-cache'

const options = (timeZone: string) =>
  ({ timezone: timeZone, paused: true, mode: '5-part' }) as const

/** Patterns are few and a `Cron` is large, so the most recently used ones are kept. */
const known = new LRUCache<string, Cron>({ max: 200 })
const FIELDS = 5

const cronOf = (pattern: string, timeZone: string): Cron => {
  const name = `${timeZone} ${pattern}`
  const before = known.get(name)
  if (before) return before
  const cron = new Cron(pattern, options(timeZone))
  known.set(name, cron)
  return cron
}

/** What is wrong with a five-field pattern; undefined if nothing is wrong. */
const cronFault = (pattern: string): string | undefined => {
  const fields = pattern.trim().split(/\s+/).length
  // A single word such as @daily stands for all five fields.
  if (fields !== FIELDS && !pattern.trim().startsWith('@')) return `it has ${fields}`
  try {
    cronOf(pattern, 'UTC')
    return undefined
  } catch (cause) {
    return cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : String(cause)
  }
}

/**
 * The first time after `after` that matches a pattern on the clocks of a time zone; undefined if
 * there is none.
 */
export const nextTime = (pattern: string, timeZone: string, after: Date): Date | undefined =>
  cronOf(pattern, timeZone).nextRun(after) ?? undefined

/** The shortest interval allowed between two times of a pattern. */
export const LEAST_GAP_MS = 15 * 60_000
/**
 * How many times of a pattern are checked. This is enough to reach the days on which two times are
 * closest together.
 */
const MOST_TIMES_CHECKED = 200

/**
 * Why a pattern cannot be used from `now` on, phrased as the end of a sentence; undefined if it
 * can.
 */
export const patternFault = (pattern: string, timeZone: string, now: Date): string | undefined => {
  const fault = cronFault(pattern)
  if (fault) return `is not a cron pattern of five fields: ${fault}`
  let before = nextTime(pattern, timeZone, now)
  if (!before) return 'never fires'
  for (let checked = 1; before && checked < MOST_TIMES_CHECKED; checked++) {
    const next = nextTime(pattern, timeZone, before)
    if (next && next.getTime() - before.getTime() < LEAST_GAP_MS)
      return 'fires more often than every 15 minutes, the shortest interval'
    before = next
  }
  return undefined
}

/** How late a missed time is still made up for. */
export const CATCH_UP_MS = 3_600_000

export interface CronDue {
  /** The time to run for: the last one due, unless it is too old. */
  run: Date | undefined
  /** The first due time without a run. */
  missed: Date | undefined
  /** The next time; undefined if there is none. */
  next: Date | undefined
}

/** What to do about a time that is due. */
export const cronDue = (
  { pattern, time_zone }: { pattern: string; time_zone: string },
  due: Date,
  now: Date,
): CronDue => {
  const earliest = now.getTime() - CATCH_UP_MS
  let run = due.getTime() > earliest ? due : undefined
  let next = nextTime(pattern, time_zone, new Date(Math.max(due.getTime(), earliest)))
  for (; next && next <= now; next = nextTime(pattern, time_zone, next)) run = next
  return { run, missed: run?.getTime() === due.getTime() ? undefined : due, next }
}
