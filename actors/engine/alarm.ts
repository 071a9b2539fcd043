/**
 * When the tenant's next row of work is due, as far as its letters have told, and the timer that
 * wakes the actor then. Each letter that brings an earlier time resets it, so setting it must be
 * cheap. With 10,000 alarms set, a plain timer takes 0.4 kB and 2 µs each, and still fires in time
 * when the clock steps back; a job of croner 11.0.1 takes 83 kB and 715 µs, and fires only when the
 * clock shows the time again. So croner only computes the times of patterns (src/kernel/cron.ts).
 */
import type { Clock } from '#kernel/clock'
import type { Effects, NewWork, Requeued } from '#store/engine/letter'
import { LONGEST_NAP_MS, type NextDue } from '#store/engine/next-due'
import type { WorkTable } from '#store/engine/work'

/** Unknown: a poll may find something at any time. */
const UNKNOWN = Number.NEGATIVE_INFINITY

export class Alarm {
  /**
   * In epoch milliseconds of the database's clock: no queued row is due before this time, whatever
   * is running. Letters that add an earlier row move it forward.
   */
  #dueAt = UNKNOWN
  #timer: Disposable | undefined
  /** Monotonic time. */
  #ringsAt = Number.POSITIVE_INFINITY

  constructor(
    private readonly clock: Clock,
    private readonly kinds: Pick<WorkTable, 'awaited'>,
    private readonly ring: () => void,
  ) {}

  /**
   * Whether a poll at this database time may find a due row, taking into account effects that have
   * not committed yet.
   */
  mayBeDue(effects: Effects, now: Date): boolean {
    return Math.min(this.#dueAt, this.#soonestOf(effects, now)) <= now.getTime()
  }

  /** Whether the last poll left another row that was due, or one has been added since. */
  isDue(): boolean {
    return this.#dueAt === UNKNOWN
  }

  /**
   * A letter with a poll has committed. Rows that were due then stay due, whatever the clock says
   * later.
   */
  polled({ dueIn = Number.POSITIVE_INFINITY }: Pick<NextDue, 'dueIn'>, now: Date): void {
    this.#dueAt = dueIn <= 0 ? UNKNOWN : now.getTime() + dueIn
  }

  /**
   * A letter with these effects has committed. Returns true if a row may be due now, because of the
   * effects, or because of the time, which may have stepped.
   */
  changed(effects: Effects, now: Date): boolean {
    const soonest = this.#soonestOf(effects, now)
    if (soonest < this.#dueAt) this.#dueAt = soonest
    if (soonest !== Number.POSITIVE_INFINITY && soonest !== UNKNOWN)
      this.ringBy(soonest - now.getTime())
    return soonest === UNKNOWN || (this.#dueAt !== UNKNOWN && this.#dueAt <= now.getTime())
  }

  /** A key has become free: rows that waited only for the key are due at their own times. */
  freed(now: Date): void {
    if (this.#dueAt !== Number.POSITIVE_INFINITY) this.ringBy(this.#dueAt - now.getTime())
  }

  /** Something may have been committed that no letter of this process knows of. */
  forget(): void {
    this.#dueAt = UNKNOWN
  }

  /**
   * Rings after this many milliseconds and forgets any earlier setting. The wait is limited,
   * because clocks cannot be trusted for long.
   */
  ringIn(ms: number): void {
    this.stop()
    const nap = Math.min(ms, LONGEST_NAP_MS)
    this.#ringsAt = this.clock.monotonic() + nap
    this.#timer = this.clock.after(nap, () => {
      this.#ringsAt = Number.POSITIVE_INFINITY
      this.ring()
    })
  }

  /** Rings within this many milliseconds. */
  ringBy(ms: number): void {
    if (this.clock.monotonic() + ms < this.#ringsAt) this.ringIn(ms)
  }

  stop(): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#ringsAt = Number.POSITIVE_INFINITY
  }

  #soonestOf({ work = [], requeued = [], paused }: Effects, now: Date): number {
    if (paused === false) return UNKNOWN
    return Math.min(...[...work, ...requeued].map((row) => this.#dueTimeOf(row, now)))
  }

  /**
   * People wait for manual work, so it counts as due at once, whatever its time. The origin of a
   * row that is queued again is unknown.
   */
  #dueTimeOf({ runAt, origin, ...row }: NewWork | Requeued, now: Date): number {
    const isAwaited =
      origin === 'manual' && (!('kind' in row) || this.kinds.awaited.includes(row.kind))
    return isAwaited || runAt <= now ? UNKNOWN : runAt.getTime()
  }
}
