/** Holds a backup to a number of bytes a second. */
import { type Clock, sleep } from '#kernel/clock'

/** After a pause, this much of a second may be made up for. */
const BURST = 0.1

export class Pace {
  /** When the bytes taken so far are paid for, in monotonic time. */
  #paidAt: number
  /** All bytes taken. */
  taken = 0

  constructor(
    private readonly bytesPerSecond: number,
    private readonly clock: Clock,
  ) {
    this.#paidAt = clock.monotonic()
  }

  /** Returns when that many bytes are allowed. */
  async take(bytes: number): Promise<void> {
    this.taken += bytes
    const now = this.clock.monotonic()
    this.#paidAt =
      Math.max(this.#paidAt, now - BURST * 1_000) + (bytes / this.bytesPerSecond) * 1_000
    if (this.#paidAt > now) await sleep(this.clock, this.#paidAt - now)
  }
}
