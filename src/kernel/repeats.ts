/** Counts what happens again and again, so that it is told twice a minute at most. */
import type { Clock } from './clock.ts'

const WINDOW_MS = 60_000
/** What is known at once. Beyond it the oldest is told and forgotten. */
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
   * Whether this is the first of its kind within a minute. Of the others `tell` gets the number,
   * once the minute is over.
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

  /** Tells all that was counted. */
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

  /** What began first ends first. */
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
