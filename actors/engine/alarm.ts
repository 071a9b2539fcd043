/**
 * When the tenant's next row of work is due, as far as its letters have told, and the timer that
 * wakes the actor then. Each letter that brings an earlier time arms it anew, so arming must be
 * cheap. With 10,000 armed alarms a plain timer takes 0.4 kB and 2 µs each, and fires in time when
 * the clock steps back; a job of croner 11.0.1 takes 83 kB and 715 µs, and fires when the clock
 * shows the time again. croner computes the times of patterns alone (src/kernel/cron.ts).
 */
import type { Clock } from '#kernel/clock'
import type { Effects, NewWork, Requeued } from '#store/engine/letter'
import { LONGEST_NAP_MS, type NextDue } from '#store/engine/next-due'
import type { WorkTable } from '#store/engine/work'

/** A poll may find something at any time. */
const UNKNOWN = Number.NEGATIVE_INFINITY

export class Alarm {
  /**
   * The database's time, in epoch milliseconds, before which no queued row is due, whatever runs.
   * Later ones are added by letters.
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
   * Whether a poll at this time of the database may find a due row, beside effects that have not
   * committed yet.
   */
  mayBeDue(effects: Effects, now: Date): boolean {
    return Math.min(this.#dueAt, this.#soonestOf(effects, now)) <= now.getTime()
  }

  /**
   * Whether a row was due at the last poll, beside the one that it found, or has been added since.
   */
  isDue(): boolean {
    return this.#dueAt === UNKNOWN
  }

  /**
   * A poll in a letter that has committed. What was due then is due whatever the clock says later.
   */
  polled({ dueIn = Number.POSITIVE_INFINITY }: Pick<NextDue, 'dueIn'>, now: Date): void {
    this.#dueAt = dueIn <= 0 ? UNKNOWN : now.getTime() + dueIn
  }

  /**
   * A letter with these effects has committed. True: a row may be due now, by them or by the time,
   * which may have stepped.
   */
  changed(effects: Effects, now: Date): boolean {
    const soonest = this.#soonestOf(effects, now)
    if (soonest < this.#dueAt) this.#dueAt = soonest
    if (soonest !== Number.POSITIVE_INFINITY && soonest !== UNKNOWN)
      this.ringBy(soonest - now.getTime())
    return soonest === UNKNOWN || (this.#dueAt !== UNKNOWN && this.#dueAt <= now.getTime())
  }

  /** A key is free: what waited for it only is due when it is due. */
  freed(now: Date): void {
    if (this.#dueAt !== Number.POSITIVE_INFINITY) this.ringBy(this.#dueAt - now.getTime())
  }

  /** Something may have been committed that no letter of this process knows of. */
  forget(): void {
    this.#dueAt = UNKNOWN
  }

  /**
   * Rings after so many milliseconds, instead of any time before; never much later than a clock can
   * be trusted.
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

  /** Rings within so many milliseconds. */
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
   * People wait for manual work, so it counts as due at once, whatever its time. Of a row that is
   * queued again the kind is not known.
   */
  #dueTimeOf({ runAt, origin, ...row }: NewWork | Requeued, now: Date): number {
    const isAwaited =
      origin === 'manual' && (!('kind' in row) || this.kinds.awaited.includes(row.kind))
    return isAwaited || runAt <= now ? UNKNOWN : runAt.getTime()
  }
}
