import type { Clock } from '#kernel/clock'

/** Backoff of work whose claims fail for reasons of its own: excluded from claims, for longer after every failure. */
export interface ClaimBackoff {
  failed(workId: string): void
  claimed(workId: string): void
  /** Ids of work to exclude now. */
  ids(): string[]
  /** The earlier of `ms` and the end of the next backoff, in milliseconds from now; undefined if there is neither. */
  until(ms: number | undefined): number | undefined
}

export const claimBackoff = (clock: Clock, backoffAfter: (failures: number) => number): ClaimBackoff => {
  const backoffs = new Map<string, { until: number; failures: number }>()
  return {
    failed(workId) {
      const failures = (backoffs.get(workId)?.failures ?? 0) + 1
      backoffs.set(workId, { until: clock.monotonic() + backoffAfter(failures), failures })
    },
    claimed: (workId) => void backoffs.delete(workId),
    ids() {
      const now = clock.monotonic()
      return [...backoffs].filter(([, { until }]) => until > now).map(([id]) => id)
    },
    until(ms) {
      const now = clock.monotonic()
      const waits = [...backoffs.values()].map(({ until }) => until - now).filter((wait) => wait > 0)
      return ms === undefined && waits.length === 0 ? undefined : Math.min(ms ?? Number.POSITIVE_INFINITY, ...waits)
    },
  }
}
