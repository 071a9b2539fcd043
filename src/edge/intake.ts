/**
 * Limits the cost of unanswered requests: unfinished anonymous requests, credentials being checked,
 * and bytes of bodies. Bun calls us when it has the headers, and always reads up to 1 MiB of the
 * body ahead. We therefore reserve room for a body before any wait, and limit how many bodies wait
 * for room.
 */
import type { Clock } from '#kernel/clock'
import { fail } from '#kernel/errors'
import { FairLimit } from '#kernel/fair-limit'
import type { Log } from '#kernel/log'

const KIB = 1_024
const MIB = 1_024 * KIB

export interface IntakeLimits {
  /** Bytes of all bodies in the process. */
  bytes: number
  /**
   * The part of `bytes` for callers without a credential. One network gets at most a quarter of it.
   */
  anonymousBytes: number
  /**
   * The part of `bytes` for callers whose credential is being checked. One network gets at most
   * half of it.
   */
  uncheckedBytes: number
  /** The share of the remaining bytes that one workspace gets. */
  workspaceBytes: number
  /** How long a body waits for room. */
  roomWithinMs: number
  /** How long a body may take to arrive, counted from its headers. */
  bodyWithinMs: number
  /**
   * How long an anonymous body may take while others wait for its room. Less than `roomWithinMs`.
   */
  givesWayAfterMs: number
  /**
   * How many requests of one network without a credential may be unfinished. Also how many of its
   * credential checks may run at once.
   */
  unfinished: number
}

export const intakeLimits: IntakeLimits = {
  bytes: 64 * MIB,
  anonymousBytes: 16 * MIB,
  uncheckedBytes: 8 * MIB,
  workspaceBytes: 32 * MIB,
  roomWithinMs: 5_000,
  bodyWithinMs: 60_000,
  givesWayAfterMs: 3_000,
  unfinished: 256,
}

/** How many bodies may wait for room in one budget. */
const WAITERS = 1_024
/** How many credentials from one network may wait for their check. */
const CHECKS_WAITING = 2_048
const CHECKS_WITHIN_MS = 5_000
/**
 * How often the time of bodies that are being read is checked. A timer for each body would cost
 * more.
 */
const LOOK_EVERY_MS = 250

/** A body that is being read. */
export interface BodyReading {
  /** Stops reading if the body's time is over. */
  look(): void
}

export interface IntakeParts {
  limits: IntakeLimits
  clock: Clock
  log: Log
}

/** The limits of a process, shared by all its requests. */
export class Intake {
  readonly limits: IntakeLimits
  readonly clock: Clock
  readonly log: Log
  readonly checks: FairLimit
  readonly anonymous: FairLimit
  readonly unchecked: FairLimit
  readonly members: FairLimit
  readonly #unfinished = new Map<string, number>()
  readonly #reading = new Set<BodyReading>()
  #isLooking = false

  constructor({ limits, clock, log }: IntakeParts) {
    this.limits = limits
    this.clock = clock
    this.log = log
    const { bytes, anonymousBytes, uncheckedBytes, workspaceBytes, roomWithinMs, unfinished } =
      limits
    this.checks = new FairLimit({
      total: Number.MAX_SAFE_INTEGER,
      share: unfinished,
      bound: CHECKS_WAITING,
      withinMs: CHECKS_WITHIN_MS,
      name: 'credential_check',
    })
    const budget = (total: number, of: number) =>
      new FairLimit(
        {
          name: 'request bodies',
          busy: 'too many request bodies are under way, try again',
          total,
          share: of,
          waiters: WAITERS,
          withinMs: roomWithinMs,
        },
        clock,
      )
    this.anonymous = budget(anonymousBytes, anonymousBytes / 4)
    this.unchecked = budget(uncheckedBytes, uncheckedBytes / 2)
    this.members = budget(bytes - anonymousBytes - uncheckedBytes, workspaceBytes)
  }

  /** How many requests without a credential are unfinished. */
  unfinishedOf(address: string): number {
    return this.#unfinished.get(address) ?? 0
  }

  begin(address: string): void {
    const count = this.unfinishedOf(address)
    if (count >= this.limits.unfinished)
      fail('rate_limited', 'unfinished_requests', { retryAfter: 1 })
    this.#unfinished.set(address, count + 1)
  }

  finish(address: string): void {
    const left = this.unfinishedOf(address) - 1
    if (left > 0) this.#unfinished.set(address, left)
    else this.#unfinished.delete(address)
  }
  /** Checks the time of a body until it has been read. */
  watch(reading: BodyReading): void {
    this.#reading.add(reading)
    if (this.#isLooking) return
    this.#isLooking = true
    this.clock.after(LOOK_EVERY_MS, () => this.#look())
  }

  unwatch(reading: BodyReading): void {
    this.#reading.delete(reading)
  }

  #look(): void {
    for (const reading of this.#reading) reading.look()
    this.#isLooking = this.#reading.size > 0
    if (this.#isLooking) this.clock.after(LOOK_EVERY_MS, () => this.#look())
  }
}
