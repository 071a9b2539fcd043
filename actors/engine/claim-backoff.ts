import type { Clock } from '#kernel/clock'

/** Backoff of work whose claims fail for reasons of its own: excluded from claims, for longer after every failure. */
export interface ClaimBackoff {
  failed(workId: string): void
  claimed(workId: string): void
  /** From now on the work rests by the due time of its row alone. */
  counted(workId: string): void
  /** Ids of work to exclude now. */
  ids(): string[]
  /** The earlier of `ms` and the end of the next backoff, in milliseconds from now; undefined if there is neither. */
  until(ms: number | undefined): number | undefined
  /** Whether work that failed before may be claimed again by now. */
  isBack(): boolean
}

/** How long work is remembered that is not claimed again: its row may be gone. */
const REMEMBERED_MS = 60_000

export const claimBackoff = (clock: Clock, backoffAfter: (failures: number) => number): ClaimBackoff => {
  const backoffs = new Map<string, { until: number; failures: number }>()
  const forget = (now: number): void => {
    for (const [id, { until }] of backoffs) if (until + REMEMBERED_MS <= now) backoffs.delete(id)
  }
  return {
    failed(workId) {
      const failures = (backoffs.get(workId)?.failures ?? 0) + 1
      backoffs.set(workId, { until: clock.monotonic() + backoffAfter(failures), failures })
    },
    claimed: (workId) => void backoffs.delete(workId),
    counted(workId) {
      const backoff = backoffs.get(workId)
      if (backoff) backoffs.set(workId, { ...backoff, until: Math.min(backoff.until, clock.monotonic()) })
    },
    ids() {
      const now = clock.monotonic()
      forget(now)
      return [...backoffs].filter(([, { until }]) => until > now).map(([id]) => id)
    },
    until(ms) {
      const now = clock.monotonic()
      const waits = [...backoffs.values()].map(({ until }) => until - now).filter((wait) => wait > 0)
      return ms === undefined && waits.length === 0 ? undefined : Math.min(ms ?? Number.POSITIVE_INFINITY, ...waits)
    },
    isBack() {
      const now = clock.monotonic()
      forget(now)
      return [...backoffs.values()].some(({ until }) => until <= now)
    },
  }
}
