/**
 * Moments at which clocks and calendars do what programs forget, and the steps of the clocks around
 * them.
 */

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export interface Scene {
  /** In UTC. */
  at: string
  /** The time zone of servers that start in this scene. */
  zone: string
  /** The zone's offsets before and after the moment: people write times in either. */
  offsets: readonly [string, string]
}

/** In order of time, so that between two scenes the database's clock jumps forward by weeks. */
export const scenes: readonly Scene[] = [
  { at: '2027-03-14T07:00:00Z', zone: 'America/New_York', offsets: ['-05:00', '-04:00'] },
  { at: '2027-03-28T01:00:00Z', zone: 'Europe/Berlin', offsets: ['+01:00', '+02:00'] },
  { at: '2027-04-03T15:00:00Z', zone: 'Australia/Lord_Howe', offsets: ['+11:00', '+10:30'] },
  { at: '2027-10-02T15:30:00Z', zone: 'Australia/Lord_Howe', offsets: ['+10:30', '+11:00'] },
  { at: '2027-10-31T01:00:00Z', zone: 'Europe/Berlin', offsets: ['+02:00', '+01:00'] },
  { at: '2027-11-07T06:00:00Z', zone: 'America/New_York', offsets: ['-04:00', '-05:00'] },
  { at: '2028-02-29T00:00:00Z', zone: 'UTC', offsets: ['Z', '+00:00'] },
  { at: '2028-02-29T11:00:00Z', zone: 'Pacific/Apia', offsets: ['+13:00', '-11:00'] },
  { at: '2029-01-01T00:00:00Z', zone: 'Pacific/Apia', offsets: ['+13:00', '-11:00'] },
]

/** By how much clocks step. */
export const STEPS = [HOUR_MS, -HOUR_MS, 2 * DAY_MS] as const

export const pickOf = <T>(choices: readonly T[], next: () => number): T =>
  choices[Math.floor(next() * choices.length)]!

/** Each of the steps once, in random order. */
export const stepsOf = (next: () => number): number[] => {
  const left: number[] = [...STEPS]
  return Array.from(STEPS, () => left.splice(Math.floor(next() * left.length), 1)[0]!)
}

/**
 * Milliseconds from the scene's moment to a due time: mostly close to it, or to where a step leads.
 */
export const dueAfter = (next: () => number): number => {
  const around = -1_500 + next() * 5_000
  const draw = next()
  if (draw < 0.45) return around
  if (draw < 0.6) return HOUR_MS + around
  if (draw < 0.75) return next() * HOUR_MS
  if (draw < 0.9) return 2 * DAY_MS - next() * HOUR_MS
  return next() * 2 * DAY_MS
}

/** The instant as written with that offset. */
export const written = (ms: number, offset: string): string => {
  if (offset === 'Z') return new Date(ms).toISOString()
  const [hours, minutes] = offset.slice(1).split(':').map(Number)
  const ahead = (offset.startsWith('-') ? -1 : 1) * (hours! * 60 + minutes!) * 60_000
  return new Date(ms + ahead).toISOString().replace('Z', offset)
}
