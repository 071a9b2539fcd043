/**
 * Rows of work whose claim, run or outcome has failed or kept the process busy, as a process remembers them. A suspect rests, for longer after
 * each failure, and is claimed alone afterwards. What fails alone is counted in its row, and from then on rests by that.
 */
import type { Clock } from '#kernel/clock'

/** The suspects of one workspace. They outlive its actor: a row that costs this process its lease is still suspect in the next one. */
export interface Suspects {
  /** It failed, and rests. Returns how often in a row it has, since it was last counted. */
  failed(workId: string): number
  /** It is due again, and must be claimed alone. */
  alone(workId: string): void
  /** It was claimed, and runs. Its failures are forgotten once it has run without one. */
  claimed(workId: string): void
  /** It ran without a failure, or its failures stand in its row by now. */
  cleared(workId: string): void
  /** How often in a row it has failed, since it was last counted. */
  strikes(workId: string): number
  /** Ids of work to exclude now. */
  ids(): string[]
  /** The end of the next rest, in milliseconds from now; undefined if nothing rests. */
  until(): number | undefined
  /** Whether suspects may be claimed by now, alone. */
  isBack(): boolean
}

interface Suspect {
  /** Monotonic time. */
  until: number
  strikes: number
  isClaimed: boolean
}

/** How long work is remembered that is not claimed again, as its row may be gone, and a run that never ends. */
const REMEMBERED_MS = 60_000
const RUN_REMEMBERED_MS = 600_000

const suspectsIn = (suspects: Map<string, Suspect>, clock: Clock, restAfter: (strikes: number) => number): Suspects => {
  const now = (): number => {
    const time = clock.monotonic()
    for (const [id, { until, isClaimed }] of suspects)
      if (until + (isClaimed ? RUN_REMEMBERED_MS : REMEMBERED_MS) <= time) suspects.delete(id)
    return time
  }
  const strikes = (id: string): number => suspects.get(id)?.strikes ?? 0
  return {
    failed(id) {
      const times = strikes(id) + 1
      suspects.set(id, { until: clock.monotonic() + restAfter(times), strikes: times, isClaimed: false })
      return times
    },
    alone: (id) => void suspects.set(id, { until: clock.monotonic(), strikes: strikes(id), isClaimed: false }),
    claimed(id) {
      const suspect = suspects.get(id)
      if (suspect) suspects.set(id, { ...suspect, isClaimed: true })
    },
    cleared: (id) => void suspects.delete(id),
    strikes,
    ids() {
      const time = now()
      return [...suspects].filter(([, { until, isClaimed }]) => !isClaimed && until > time).map(([id]) => id)
    },
    until() {
      const time = now()
      const rests = [...suspects.values()].flatMap(({ until, isClaimed }) => (!isClaimed && until > time ? [until - time] : []))
      return rests.length === 0 ? undefined : Math.min(...rests)
    },
    isBack() {
      const time = now()
      return [...suspects.values()].some(({ until, isClaimed }) => !isClaimed && until <= time)
    },
  }
}

/** Workspaces without suspects are forgotten. */
export const newSuspects = (clock: Clock, restAfter: (strikes: number) => number): ((tenantId: string) => Suspects) => {
  const byTenant = new Map<string, Map<string, Suspect>>()
  return (tenantId) => {
    for (const [id, suspects] of byTenant) if (suspects.size === 0 && id !== tenantId) byTenant.delete(id)
    const suspects = byTenant.get(tenantId) ?? new Map<string, Suspect>()
    byTenant.set(tenantId, suspects)
    return suspectsIn(suspects, clock, restAfter)
  }
}
