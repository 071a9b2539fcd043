/** How long a key lives, as people choose it. */

const DAY_MS = 86_400_000

export const lives = {
  never: 'Never',
  month: 'In 30 days',
  quarter: 'In 90 days',
  year: 'In a year',
} as const
export type Life = keyof typeof lives

const DAYS: Record<Exclude<Life, 'never'>, number> = { month: 30, quarter: 90, year: 365 }

/**
 * The end of the day in UTC after which the key ends. It is the same for each try within a day, so
 * that a try that is repeated makes no second key.
 */
export const endOf = (life: Life, now: number): string | undefined =>
  life === 'never'
    ? undefined
    : new Date((Math.floor(now / DAY_MS) + 1 + DAYS[life]) * DAY_MS).toISOString()
