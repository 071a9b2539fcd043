/**
 * Rows of work whose claim, run or outcome has failed or kept the process busy, as a process remembers them. A suspect rests, for longer after
 * each failure, and is claimed alone afterwards. What fails alone is counted in its row, and from then on rests by that.
 */
import type { Clock } from '#kernel/clock'
import type { Work } from '#store/engine/work'

type Row = Pick<Work, 'id' | 'failures'>

/** The suspects of one workspace. They outlive its actor: a row that costs this process its lease is still suspect in the next one. */
export interface Suspects {
  /** It failed, and rests. `throws`: by an error of its own. Returns the failures in a row that are not counted yet. */
  failed(workId: string, throws?: boolean): number
  /** It kept the process busy. It rests, unless that must be counted first. */
  stalled(work: Row): void
  /** It must be claimed alone. */
  has(workId: string): boolean
  /** How often it kept the process busy without that being counted yet. */
  stalls(workId: string): number
  /** Whether it has kept the process busy since its last run that did not. */
  hasStalled(workId: string): boolean
  /** Failures that must be counted in the row before it is claimed again, for instance because the letter that counts them has failed. */
  owes(work: Row): number
  /** So many failures must be counted in the row. */
  owe(workId: string, failures: number): void
  /** It is due again, and must be claimed alone. */
  alone(workId: string): void
  /** It is left alone for so many milliseconds. */
  later(workId: string, ms: number): void
  /** It was claimed, and runs. Its failures are forgotten once it has run without one. */
  claimed(workId: string): void
  /** Its failures stand in its row by now. */
  counted(workId: string): void
  /** It ran without a failure. */
  cleared(workId: string): void
  /** Ids of work to exclude now. */
  ids(): string[]
  /** The end of the next rest, in milliseconds from now; undefined if nothing rests. */
  until(): number | undefined
  /** Whether suspects may be claimed by now, alone, and no look has been made for them since. */
  isBack(): boolean
  /** Whether one of those may keep others waiting: it has done more than throw, as far as is known. */
  isBackInEarnest(): boolean
  /** Those that are back have been looked for, alone. One that was not found stays until another look finds it. */
  looked(): void
}

interface Suspect {
  /** Monotonic time. */
  until: number
  strikes: number
  /** How often it kept the process busy. */
  stalls: number
  hasStalled: boolean
  owed: number
  throws: boolean
  isClaimed: boolean
  isLookedFor: boolean
}

/** How long a suspect is remembered that is not claimed again: its row may be gone. */
const EXPECTED_MS = 60_000
/** How long stalls, debts and a run that never ends are remembered. */
const REMEMBERED_MS = 600_000

/** A first stall may be the fault of something else, unless the row has failed before. */
const owedBy = ({ stalls, owed }: Suspect, { failures }: Row): number => Math.max(owed, stalls > 1 || failures > 0 ? stalls : 0)

const NONE: Suspect = { until: 0, strikes: 0, stalls: 0, hasStalled: false, owed: 0, throws: false, isClaimed: false, isLookedFor: false }

const forgetOld = (suspects: Map<string, Suspect>, time: number): number => {
  for (const [id, { until, isClaimed, hasStalled, owed }] of suspects)
    if (until + (isClaimed || hasStalled || owed > 0 ? REMEMBERED_MS : EXPECTED_MS) <= time) suspects.delete(id)
  return time
}

const suspectsIn = (suspects: Map<string, Suspect>, clock: Clock, restAfter: (strikes: number) => number): Suspects => {
  const now = (): number => forgetOld(suspects, clock.monotonic())
  const of = (id: string): Suspect => suspects.get(id) ?? NONE
  const set = (id: string, more: Partial<Suspect>, restMs = 0): Suspect => {
    const suspect = { ...of(id), isClaimed: false, isLookedFor: false, until: clock.monotonic() + restMs, ...more }
    suspects.set(id, suspect)
    return suspect
  }
  const back = (time: number): Suspect[] =>
    [...suspects.values()].filter(({ until, isClaimed, isLookedFor }) => !isClaimed && !isLookedFor && until <= time)
  const resting = (time: number): [string, Suspect][] => [...suspects].filter(([, { until, isClaimed }]) => !isClaimed && until > time)
  return {
    failed: (id, throws = false) => set(id, { strikes: of(id).strikes + 1, throws }, restAfter(of(id).strikes + 1)).strikes,
    stalled(row) {
      const before = of(row.id)
      const stalls = before.stalls + 1
      set(row.id, { stalls, hasStalled: true, throws: false }, owedBy({ ...before, stalls }, row) > 0 ? 0 : restAfter(stalls))
    },
    has: (id) => suspects.has(id),
    stalls: (id) => of(id).stalls,
    hasStalled: (id) => of(id).hasStalled,
    owes: (row) => owedBy(of(row.id), row),
    owe: (id, failures) => void set(id, { owed: failures }),
    alone: (id) => void set(id, {}),
    later: (id, ms) => void set(id, {}, ms),
    claimed(id) {
      const suspect = suspects.get(id)
      if (suspect) suspects.set(id, { ...suspect, isClaimed: true })
    },
    counted(id) {
      if (of(id).hasStalled || of(id).throws) set(id, { strikes: 0, stalls: 0, owed: 0 })
      else suspects.delete(id)
    },
    cleared: (id) => void suspects.delete(id),
    ids: () => resting(now()).map(([id]) => id),
    until() {
      const time = now()
      const rests = resting(time).map(([, { until }]) => until - time)
      return rests.length === 0 ? undefined : Math.min(...rests)
    },
    isBack: () => back(now()).length > 0,
    isBackInEarnest: () => back(now()).some(({ throws }) => !throws),
    looked() {
      const time = now()
      for (const [id, suspect] of suspects) if (suspect.until <= time) suspects.set(id, { ...suspect, isLookedFor: true })
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
