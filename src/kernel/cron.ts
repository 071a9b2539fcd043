/** Five-field cron patterns in an IANA time zone. */
import { Cron } from 'croner'
import { LRUCache } from 'lru-cache'

const options = (timeZone: string) => ({ timezone: timeZone, paused: true, mode: '5-part' }) as const

/** Patterns are few and a `Cron` is large: the ones used last are kept. */
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

/** What is wrong with a five-field pattern; undefined if nothing is. */
export const cronFault = (pattern: string): string | undefined => {
  const fields = pattern.trim().split(/\s+/).length
  if (fields > 1 && fields !== FIELDS) return `it has ${fields}`
  try {
    cronOf(pattern, 'UTC')
    return undefined
  } catch (cause) {
    return cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : String(cause)
  }
}

/** The first time after `after` that matches a pattern on the clocks of a time zone; undefined if there is none. */
export const nextTime = (pattern: string, timeZone: string, after: Date): Date | undefined =>
  cronOf(pattern, timeZone).nextRun(after) ?? undefined
