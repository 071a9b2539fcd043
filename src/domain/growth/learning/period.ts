/** How the posts of a period did: the mean of their rates, or of their reactions. */
import type { Basis } from '../metrics.ts'
import type { Interval } from './statistics.ts'
import { studentQuantile } from './student.ts'

const LEVEL = 0.95

export interface PerformanceSums {
  basis: Basis
  /** The number of values. */
  measured: number
  sum: number
  squares: number
}

interface PeriodMeans {
  engagement_rate: number | null
  reactions_per_post: number | null
  /** Of the one that is not null. */
  interval: Interval | null
}

const MOST: Record<Basis, number> = { impressions: 1, posts: Number.POSITIVE_INFINITY }

/** The mean, and its interval by Student's t; null where there is too little data. */
export const periodMeans = ({ basis, measured, sum, squares }: PerformanceSums): PeriodMeans => {
  if (measured === 0) return { engagement_rate: null, reactions_per_post: null, interval: null }
  const mean = sum / measured
  const means =
    basis === 'posts'
      ? { engagement_rate: null, reactions_per_post: mean }
      : { engagement_rate: mean, reactions_per_post: null }
  if (measured < 2) return { ...means, interval: null }
  const variance = Math.max(0, (squares - measured * mean ** 2) / (measured - 1))
  const reach = studentQuantile(1 - (1 - LEVEL) / 2, measured - 1) * Math.sqrt(variance / measured)
  const interval = { low: Math.max(0, mean - reach), high: Math.min(MOST[basis], mean + reach) }
  return { ...means, interval }
}
