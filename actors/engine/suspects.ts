/**
 * Rows of work whose claim, run or outcome has failed or kept the process busy, as a process
 * remembers them. A suspect rests, for longer after each failure, and is claimed alone afterwards.
 * What fails alone is counted in its row, and from then on rests by that.
 */
import type { Clock } from '#kernel/clock'
import type { Work } from '#store/engine/work'

type Row = Pick<Work, 'id' | 'failures'>

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
  isPolledFor: boolean
}

/** How long a suspect is remembered that is not claimed again: its row may be gone. */
const EXPECTED_MS = 60_000
/** How long stalls, debts and a run that never ends are remembered. */
const REMEMBERED_MS = 600_000

/** A first stall may be the fault of something else, unless the row has failed before. */
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
 * still suspect in the next one.
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
   * It failed, and rests. `throws`: by an error of its own. Returns the failures in a row that are
   * not counted yet.
   */
  failed(id: string, throws = false): number {
    const strikes = this.#of(id).strikes + 1
    return this.#set(id, { strikes, throws }, this.restAfter(strikes)).strikes
  }

  /** It kept the process busy. It rests, unless that must be counted first. */
  stalled(row: Row): void {
    const before = this.#of(row.id)
    const stalls = before.stalls + 1
    const rest = owedBy({ ...before, stalls }, row) > 0 ? 0 : this.restAfter(stalls)
    this.#set(row.id, { stalls, hasStalled: true, throws: false }, rest)
  }

  /** It must be claimed alone. */
  has(id: string): boolean {
    return this.#suspects.has(id)
  }

  /** How often it kept the process busy without that being counted yet. */
  stalls(id: string): number {
    return this.#of(id).stalls
  }

  /** Whether it has kept the process busy since its last run that did not. */
  hasStalled(id: string): boolean {
    return this.#of(id).hasStalled
  }

  /**
   * Failures that must be counted in the row before it is claimed again, for instance because the
   * letter that counts them has failed.
   */
  owes(row: Row): number {
    return owedBy(this.#of(row.id), row)
  }

  /** So many failures must be counted in the row. */
  owe(id: string, failures: number): void {
    this.#set(id, { owed: failures })
  }

  /** It is due again, and must be claimed alone. */
  alone(id: string): void {
    this.#set(id, {})
  }

  /** It is left alone for so many milliseconds. */
  later(id: string, ms: number): void {
    this.#set(id, {}, ms)
  }

  /** It was claimed, and runs. Its failures are forgotten once it has run without one. */
  claimed(id: string): void {
    const suspect = this.#suspects.get(id)
    if (suspect) this.#suspects.set(id, { ...suspect, isClaimed: true })
  }

  /** Its failures stand in its row by now. */
  counted(id: string): void {
    const { hasStalled, throws } = this.#of(id)
    if (hasStalled || throws) this.#set(id, { strikes: 0, stalls: 0, owed: 0 })
    else this.#suspects.delete(id)
  }

  /** It ran without a failure. */
  cleared(id: string): void {
    this.#suspects.delete(id)
  }

  /** Ids of work to exclude now. */
  ids(): string[] {
    return this.#resting(this.#now()).map(([id]) => id)
  }

  /** The end of the next rest, in milliseconds from now; undefined if nothing rests. */
  until(): number | undefined {
    const time = this.#now()
    const rests = this.#resting(time).map(([, { until }]) => until - time)
    return rests.length === 0 ? undefined : Math.min(...rests)
  }

  /** Whether suspects may be claimed by now, alone, and no poll has been made for them since. */
  isBack(): boolean {
    return this.#back().length > 0
  }

  /**
   * Whether one of those may keep others waiting: it has done more than throw, as far as is known.
   */
  isBackInEarnest(): boolean {
    return this.#back().some(({ throws }) => !throws)
  }

  /**
   * Those that are back have been polled for, alone. One that was not found stays until another
   * poll finds it.
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

  /** The time, by which what is too old to be of use is forgotten. */
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
