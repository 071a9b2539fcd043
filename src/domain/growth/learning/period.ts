/** The engagement rate over the posts of a period. */
import type { Interval } from './statistics.ts'
import { studentQuantile } from './student.ts'

const LEVEL = 0.95

export interface RateSums {
  /** The number of rates. */
  measured: number
  rates: number
  rate_squares: number
}

/** The mean rate, and its interval by Student's t; null where there is too little data. */
export const meanRate = ({
  measured,
  rates,
  rate_squares,
}: RateSums): { engagement_rate: number | null; interval: Interval | null } => {
  if (measured === 0) return { engagement_rate: null, interval: null }
  const mean = rates / measured
  if (measured < 2) return { engagement_rate: mean, interval: null }
  const variance = Math.max(0, (rate_squares - measured * mean ** 2) / (measured - 1))
  const reach = studentQuantile(1 - (1 - LEVEL) / 2, measured - 1) * Math.sqrt(variance / measured)
  return {
    engagement_rate: mean,
    interval: { low: Math.max(0, mean - reach), high: Math.min(1, mean + reach) },
  }
}
