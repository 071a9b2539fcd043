/** Counts what happens again and again, so that it is reported at most twice a minute. */
import type { Clock } from './clock.ts'

const WINDOW_MS = 60_000
/** How many kinds are known at once. Beyond that, the oldest is reported and forgotten. */
export const MOST_KNOWN = 1_000

interface Known {
  until: number
  count: number
  tell(count: number): void
}

export class Repeats {
  readonly #known = new Map<string, Known>()
  #isArmed = false

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.#known.size
  }

  /**
   * Whether this is the first of its kind within a minute. When the minute is over, `tell` gets the
   * number of the others.
   */
  isFirst(key: string, tell: (count: number) => void): boolean {
    const known = this.#known.get(key)
    if (known && known.until > this.clock.monotonic()) {
      known.count++
      known.tell = tell
      return false
    }
    if (known) this.#end(key, known)
    for (const [oldest, other] of this.#known) {
      if (this.#known.size < MOST_KNOWN) break
      this.#end(oldest, other)
    }
    this.#known.set(key, { until: this.clock.monotonic() + WINDOW_MS, count: 0, tell })
    if (!this.#isArmed) this.#sweepIn(WINDOW_MS)
    return true
  }

  /** Reports everything that was counted. */
  tellAll(): void {
    for (const [key, known] of this.#known) this.#end(key, known)
  }

  #end(key: string, { count, tell }: Known): void {
    this.#known.delete(key)
    if (count > 0) tell(count)
  }

  #sweepIn(ms: number): void {
    this.#isArmed = true
    this.clock.after(ms, () => this.#sweep())
  }

  /** Entries end in the order in which they began. */
  #sweep(): void {
    this.#isArmed = false
    for (const [key, known] of this.#known) {
      const left = known.until - this.clock.monotonic()
      if (left > 0) {
        this.#sweepIn(left)
        return
      }
      this.#end(key, known)
    }
  }
}
