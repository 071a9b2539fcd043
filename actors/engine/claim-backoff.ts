import type { Clock } from '#kernel/clock'

/** Backoff of work whose claim fails for a reason of its own: it is left out of claims, longer with every failure. */
export interface ClaimBackoff {
  failed(workId: string): void
  claimed(workId: string): void
  /** Ids of what rests now. */
  ids(): string[]
  /** The earlier of the time given and the next end of a rest; in milliseconds from now, undefined when there is neither. */
  until(ms: number | undefined): number | undefined
}

export const claimBackoff = (clock: Clock, restAfter: (failures: number) => number): ClaimBackoff => {
  const resting = new Map<string, { until: number; failures: number }>()
  return {
    failed(workId) {
      const failures = (resting.get(workId)?.failures ?? 0) + 1
      resting.set(workId, { until: clock.monotonic() + restAfter(failures), failures })
    },
    claimed: (workId) => void resting.delete(workId),
    ids() {
      const now = clock.monotonic()
      return [...resting].filter(([, { until }]) => until > now).map(([id]) => id)
    },
    until(ms) {
      const now = clock.monotonic()
      const waits = [...resting.values()].map(({ until }) => until - now).filter((wait) => wait > 0)
      return ms === undefined && waits.length === 0 ? undefined : Math.min(ms ?? Number.POSITIVE_INFINITY, ...waits)
    },
  }
}
