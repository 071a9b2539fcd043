/**
 * What a process remembers about rows of work whose claim, run or outcome has failed or kept the
 * process busy. A suspect rests, longer after each failure, and is then claimed alone. A failure
 * alone is counted in its row, which determines its rests from then on.
 */
import type { Clock } from '#kernel/clock'
import type { Work } from '#store/engine/work'

type Row = Pick<Work, 'id' | 'failures'>

interface Suspect {
  /** Monotonic time. */
  until: number
  strikes: number
  /** How often the row kept the process busy. */
  stalls: number
  hasStalled: boolean
  owed: number
  throws: boolean
  isClaimed: boolean
  isPolledFor: boolean
}

/** How long a suspect that is not claimed again is remembered: its row may be gone. */
const EXPECTED_MS = 60_000
/** How long stalls, debts and runs that never end are remembered. */
const REMEMBERED_MS = 600_000

/** The first stall may have another cause, unless the row has failed before. */
const owedBy = ({ stalls, owed }: Suspect, { failures }: Row): number =>
  Math.max(owed, stalls > 1 || failures > 0 ? stalls : 0)

const NONE: Suspect = {
  until: 0,
  strikes: 0,
  stalls: 0,
  hasStalled: false,
  owed: 0,
  throws: false,
  isClaimed: false,
  isPolledFor: false,
}

/**
 * The suspects of one workspace. They outlive its actor: a row that costs this process its lease is
 * still a suspect in the next actor.
 */
export class Suspects {
  readonly #suspects = new Map<string, Suspect>()

  constructor(
    private readonly clock: Clock,
    private readonly restAfter: (strikes: number) => number,
  ) {}

  get isEmpty(): boolean {
    return this.#suspects.size === 0
  }

  /**
   * The row failed, and rests. `throws`: it threw an error of its own. Returns the failures in a
   * row that are not counted yet.
   */
  failed(id: string, throws = false): number {
    const strikes = this.#of(id).strikes + 1
    return this.#set(id, { strikes, throws }, this.restAfter(strikes)).strikes
  }

  /** The row kept the process busy. It rests, unless that must be counted first. */
  stalled(row: Row): void {
    const before = this.#of(row.id)
    const stalls = before.stalls + 1
    const rest = owedBy({ ...before, stalls }, row) > 0 ? 0 : this.restAfter(stalls)
    this.#set(row.id, { stalls, hasStalled: true, throws: false }, rest)
  }

  /** Whether the row must be claimed alone. */
  has(id: string): boolean {
    return this.#suspects.has(id)
  }

  /** How often the row kept the process busy without that being counted yet. */
  stalls(id: string): number {
    return this.#of(id).stalls
  }

  /** Whether the row has kept the process busy since its last clean run. */
  hasStalled(id: string): boolean {
    return this.#of(id).hasStalled
  }

  /**
   * Failures that must be counted in the row before it is claimed again, for instance because the
   * letter that should have counted them failed.
   */
  owes(row: Row): number {
    return owedBy(this.#of(row.id), row)
  }

  /** This many failures must be counted in the row. */
  owe(id: string, failures: number): void {
    this.#set(id, { owed: failures })
  }

  /** The row is due again, but must be claimed alone. */
  alone(id: string): void {
    this.#set(id, {})
  }

  /** The row is left alone for this many milliseconds. */
  later(id: string, ms: number): void {
    this.#set(id, {}, ms)
  }

  /** The row was claimed, and runs. Its failures are forgotten once it has run without one. */
  claimed(id: string): void {
    const suspect = this.#suspects.get(id)
    if (suspect) this.#suspects.set(id, { ...suspect, isClaimed: true })
  }

  /** The row's failures are now counted in it. */
  counted(id: string): void {
    const { hasStalled, throws } = this.#of(id)
    if (hasStalled || throws) this.#set(id, { strikes: 0, stalls: 0, owed: 0 })
    else this.#suspects.delete(id)
  }

  /** The row ran without a failure. */
  cleared(id: string): void {
    this.#suspects.delete(id)
  }

  /** Ids of work that polls must exclude now. */
  ids(): string[] {
    return this.#resting(this.#now()).map(([id]) => id)
  }

  /** The end of the next rest, in milliseconds from now; undefined if nothing rests. */
  until(): number | undefined {
    const time = this.#now()
    const rests = this.#resting(time).map(([, { until }]) => until - time)
    return rests.length === 0 ? undefined : Math.min(...rests)
  }

  /**
   * Whether any suspect has finished resting, may be claimed alone, and has not been polled for
   * since.
   */
  isBack(): boolean {
    return this.#back().length > 0
  }

  /** Whether any of those may keep others waiting: as far as is known, it did more than throw. */
  isBackInEarnest(): boolean {
    return this.#back().some(({ throws }) => !throws)
  }

  /**
   * Rows that have finished resting were polled for alone. One that was not found stays until
   * another poll finds it.
   */
  polled(): void {
    const time = this.#now()
    for (const [id, suspect] of this.#suspects)
      if (suspect.until <= time) this.#suspects.set(id, { ...suspect, isPolledFor: true })
  }

  #of(id: string): Suspect {
    return this.#suspects.get(id) ?? NONE
  }

  #set(id: string, more: Partial<Suspect>, restMs = 0): Suspect {
    const suspect = {
      ...this.#of(id),
      isClaimed: false,
      isPolledFor: false,
      until: this.clock.monotonic() + restMs,
      ...more,
    }
    this.#suspects.set(id, suspect)
    return suspect
  }

  #back(): Suspect[] {
    const time = this.#now()
    return [...this.#suspects.values()].filter(
      ({ until, isClaimed, isPolledFor }) => !isClaimed && !isPolledFor && until <= time,
    )
  }

  #resting(time: number): [string, Suspect][] {
    return [...this.#suspects].filter(([, { until, isClaimed }]) => !isClaimed && until > time)
  }

  /** The present time. Reading it also forgets whatever is too old to be useful. */
  #now(): number {
    const time = this.clock.monotonic()
    for (const [id, { until, isClaimed, hasStalled, owed }] of this.#suspects)
      if (until + (isClaimed || hasStalled || owed > 0 ? REMEMBERED_MS : EXPECTED_MS) <= time)
        this.#suspects.delete(id)
    return time
  }
}

/** Workspaces without suspects are forgotten. */
export const newSuspects = (
  clock: Clock,
  restAfter: (strikes: number) => number,
): ((tenantId: string) => Suspects) => {
  const byTenant = new Map<string, Suspects>()
  return (tenantId) => {
    for (const [id, suspects] of byTenant)
      if (suspects.isEmpty && id !== tenantId) byTenant.delete(id)
    const suspects = byTenant.get(tenantId) ?? new Suspects(clock, restAfter)
    byTenant.set(tenantId, suspects)
    return suspects
  }
}
