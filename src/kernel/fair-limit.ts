/**
 * A limit on what is in use at once, shared fairly by parties such as workspaces. Three uses:
 * - turns: callers wait for a place, such as a connection of the database (`run`);
 * - amounts: callers wait for a part, such as memory for a body (`reserve`);
 * - slots: callers are let in or refused at once, such as streams (`take`).
 */
import { Amounts, largestOf } from './amounts.ts'
import { type Clock, systemClock } from './clock.ts'
import { AppError } from './errors.ts'
import { type Demand, WaitingLine } from './waiting-line.ts'

export interface Limits {
  /** Names what is limited in refusals. */
  name: string
  /** How much may be in use at once. */
  total: number
  /**
   * How much of that one party may use; of turns also while no other asks, and while others do.
   * Default: `total`.
   */
  share?: number | { alone: number; among: number }
  /** In seconds. Default: 1. */
  retryAfter?: number
  /** Of turns and amounts: how long one may wait before it is refused with 503. */
  withinMs?: number
  /** What that refusal says. */
  busy?: string
  /** Of turns: how many of one party may wait; one more is refused with `rate_limited:<name>`. */
  bound?: number
  /**
   * Of turns: shared by the limits of one resource; a party that asks one of them counts as present
   * for all.
   */
  crowd?: Crowd
  /**
   * Of amounts: how many may wait. What they ask for has the same bounds as what is in use. When
   * the queue is full, the party that waits for most gives up its latest place to a party that
   * waits for less.
   */
  waiters?: number
  /** Of slots: how many all parties of one workspace have. Default: `total`. */
  perWorkspace?: number
}

/** Disposing returns the amount, once. */
export interface Reservation extends Disposable {
  /** Keeps `amount` and returns the rest. Never takes more than was reserved. */
  shrink(amount: number): void
}

export interface Holder {
  party: string
  /** Default: the party is one. */
  workspace?: string
  /**
   * Ends what holds the slot, which by then is free. With it, a holder can lose its slot to a
   * workspace that has fewer; without, it keeps it until it is released.
   */
  giveUp?: () => void
}

interface Held {
  free(): void
  giveUp: (() => void) | undefined
}

/** How long a party counts as present after it has asked. */
const OTHERS_FOR_MS = 250

/** Whether more than one party has asked recently. */
export class Crowd {
  #last: string | undefined
  /** Monotonic time of the last request by another party than the one before. */
  #othersAt = Number.NEGATIVE_INFINITY

  noted(party: string): void {
    if (this.#last !== undefined && this.#last !== party) this.#othersAt = performance.now()
    this.#last = party
  }

  get isThere(): boolean {
    return performance.now() - this.#othersAt < OTHERS_FOR_MS
  }
}

/**
 * A party that floods the limit waits behind its own requests, not before those of others. See
 * waiting-line.ts.
 */
export class FairLimit {
  readonly #used = new Amounts()
  /** Slots by workspace, in the order in which they were taken. */
  readonly #held = new Map<string, Set<Held>>()
  readonly #line: WaitingLine
  /** Whether the one whose turn it is waits for room in `total`. Nobody overtakes it. */
  #blocked = false
  readonly #share: { alone: number; among: number }
  readonly #crowd: Crowd

  constructor(
    private readonly limits: Limits,
    clock: Clock = systemClock,
  ) {
    const { share = limits.total, crowd = new Crowd(), withinMs = 0 } = limits
    this.#share = typeof share === 'number' ? { alone: share, among: share } : share
    this.#crowd = crowd
    const [refusal, onLeft] = [() => this.#tooBusy(), () => this.#serve()]
    this.#line = new WaitingLine({ clock, withinMs, refusal, onLeft })
  }

  /** The amount in use. */
  get used(): number {
    return this.#used.total
  }

  /** How many wait. */
  get waiters(): number {
    return this.#line.count
  }

  async run<T>(party: string, work: () => Promise<T>, demand: Demand = 'asked'): Promise<T> {
    const turn = this.enter(party, demand)
    if (turn) await turn
    try {
      return await work()
    } finally {
      this.leave(party)
    }
  }

  /**
   * Takes a place, which `leave` returns. Undefined: it was free, which costs no promise. Otherwise
   * it is taken when the promise resolves; a promise that rejects took none. Throws `rate_limited`
   * if too many of the party wait.
   */
  enter(
    party: string,
    demand: Demand = 'asked',
    amount = 1,
    signal?: () => AbortSignal,
  ): Promise<void> | undefined {
    this.#crowd.noted(party)
    const isNext = !this.#blocked && this.#line.countOf(party, demand) === 0
    if (isNext && this.#hasShare(party, amount) && this.#hasRoom(amount)) {
      this.#used.add(party, amount)
      return undefined
    }
    this.#requirePlace(party, amount, demand)
    const turn = this.#line.join(party, { amount, demand, signal: signal?.() })
    this.#serve()
    return turn
  }

  /** Returns the place of a party, which goes to the next that waits. */
  leave(party: string, amount = 1): void {
    this.#used.add(party, -amount)
    if (this.#line.count > 0) this.#serve()
  }

  /**
   * Work that takes longer than `ms` then gives up its place, and goes on: work that hangs delays
   * nobody for longer.
   */
  async yielding<T>(party: string, ms: number, work: () => Promise<T>): Promise<T> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    let running: Promise<T> | undefined
    await this.run(party, async () => {
      const timer = setTimeout(resolve, ms)
      running = work()
      await Promise.race([running.catch(() => {}), late])
      clearTimeout(timer)
    })
    return await running!
  }

  /** A caller now waits for what a party has queued: its unasked requests become asked ones. */
  hurry(party: string): void {
    this.#line.hurry(party)
  }

  /**
   * Waits until there is room. An amount above `share` counts as `share`. Throws a 503 if no room
   * becomes free in time, or at once if the queue has no place for it; throws the signal's reason
   * if it aborts.
   */
  reserve(
    party: string,
    requested: number,
    signal?: () => AbortSignal,
  ): Reservation | Promise<Reservation> {
    let held = Math.min(requested, this.#share.alone)
    const shrink = (to: number) => {
      if (to >= held) return
      const rest = held - to
      held = to
      this.leave(party, rest)
    }
    const reservation = { shrink, [Symbol.dispose]: () => shrink(0) }
    return this.enter(party, 'asked', held, signal)?.then(() => reservation) ?? reservation
  }

  /**
   * Returns a function that releases the slot; calling it again does nothing. Throws `rate_limited`
   * if none is free, nor given up by the workspace with the most: the last that it took.
   */
  take({ party, workspace = party, giveUp }: Holder): () => void {
    const { perWorkspace = Number.POSITIVE_INFINITY } = this.limits
    const count = this.#held.get(workspace)?.size ?? 0
    const isFull = count >= perWorkspace || !this.#hasShare(party, 1)
    if (isFull || !(this.#hasRoom(1) || this.#isGivenUp(count))) throw this.#tooMany()
    const holders = this.#held.getOrInsertComputed(workspace, () => new Set())
    const held: Held = {
      giveUp,
      free: () => {
        if (!holders.delete(held)) return
        if (holders.size === 0) this.#held.delete(workspace)
        this.leave(party)
      },
    }
    holders.add(held)
    this.#used.add(party, 1)
    return held.free
  }

  /** Whether a workspace that has more than another one would then have has given up a slot. */
  #isGivenUp(count: number): boolean {
    const largest = largestOf(this.#held.keys(), (name) => this.#held.get(name)!.size)
    const held = [...(this.#held.get(largest ?? '') ?? [])]
    const last = held.findLast(({ giveUp }) => giveUp !== undefined)
    if (held.length <= count + 1 || !last) return false
    last.free()
    last.giveUp!()
    return true
  }

  #hasShare(party: string, amount: number): boolean {
    const { alone, among } = this.#share
    const share = alone === among || !this.#crowd.isThere ? alone : among
    return this.#used.of(party) + amount <= share
  }

  #hasRoom(amount: number): boolean {
    return this.#used.total + amount <= this.limits.total
  }

  #tooMany(): AppError {
    return new AppError('rate_limited', this.limits.name, {
      retryAfter: this.limits.retryAfter ?? 1,
    })
  }

  #tooBusy(): AppError {
    const { busy, name } = this.limits
    return new AppError('unavailable', busy ?? `too busy: no ${name} became free in time`, {
      retryAfter: 1,
    })
  }

  #serve(): void {
    this.#blocked = this.#line.serve((party, amount) => {
      if (!this.#hasShare(party, amount)) return 'passed'
      if (!this.#hasRoom(amount)) return 'blocked'
      this.#used.add(party, amount)
      return 'taken'
    })
  }

  #requirePlace(party: string, amount: number, demand: Demand): void {
    const { bound, waiters } = this.limits
    if (bound !== undefined && this.#line.countOf(party, demand) >= bound) throw this.#tooMany()
    if (waiters !== undefined && !this.#hasPlace(party, amount, waiters)) throw this.#tooBusy()
  }

  /** Whether one more may wait, after refusing as many of those who wait for more as it takes. */
  #hasPlace(party: string, amount: number, waiters: number): boolean {
    const line = this.#line
    if (line.requested.of(party) + amount > this.#share.alone) return false
    for (;;) {
      const isFull = line.count >= waiters
      if (!isFull && line.requested.total + amount <= this.limits.total) return true
      const size = (name: string) => (isFull ? line.countOf(name) : line.requested.of(name))
      const largest = largestOf(line.parties, size)
      if (largest === undefined || size(largest) <= size(party) + (isFull ? 1 : amount))
        return false
      line.refuseLatest(largest)
    }
  }
}

/** A limit on what is let in or refused at once. */
export type Slots = Pick<FairLimit, 'take'>
