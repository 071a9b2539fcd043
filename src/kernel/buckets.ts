/** Token buckets: a sustained rate, and a burst above it. */
export interface Rate {
  perSecond: number
  burst: number
}

interface Bucket {
  tokens: number
  /** Monotonic time in milliseconds of the last count. */
  at: number
  fullAt: number
}

/**
 * How many of the least recently used buckets each use checks for removal. A use adds one bucket at
 * most, so removal keeps up.
 */
const CHECKED_PER_USE = 2

/**
 * Buckets by name. A full bucket is forgotten, because it equals one that was never used. When
 * there are more than `most`, the least recently used ones are forgotten, full or not. That bounds
 * memory, and costs at most one extra burst for each owner.
 */
export class Buckets {
  /** In order of their last use. */
  readonly #all = new Map<string, Bucket>()

  constructor(
    private readonly now: () => number,
    private readonly most: number,
  ) {}

  get size(): number {
    return this.#all.size
  }

  /** Tokens at this moment, as a fraction. */
  left(name: string, { perSecond, burst }: Rate): number {
    const bucket = this.#all.get(name)
    return bucket
      ? Math.min(burst, bucket.tokens + ((this.now() - bucket.at) * perSecond) / 1_000)
      : burst
  }

  /** Seconds until `amount` can be taken; 0 means now. A full bucket is enough for any amount. */
  wait(name: string, rate: Rate, amount = 1): number {
    const missing = Math.min(amount, rate.burst) - this.left(name, rate)
    return missing <= 0 ? 0 : missing / rate.perSecond
  }

  /** Call it only after `wait` has returned 0. */
  take(name: string, rate: Rate, amount = 1): void {
    const [at, tokens] = [this.now(), Math.max(0, this.left(name, rate) - amount)]
    this.#all.delete(name)
    this.#all.set(name, {
      tokens,
      at,
      fullAt: at + ((rate.burst - tokens) / rate.perSecond) * 1_000,
    })
    this.#forget(at)
  }

  #forget(now: number): void {
    let checked = 0
    for (const [name, { fullAt }] of this.#all) {
      if (checked++ === CHECKED_PER_USE) return
      if (fullAt <= now || this.#all.size > this.most) this.#all.delete(name)
    }
  }
}
