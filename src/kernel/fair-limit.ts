import { AppError } from './errors.ts'

export interface FairLimitOptions {
  /** How many may run at once. */
  limit: number
  /**
   * How many places one party may hold while no other party asks (`alone`), and while others do
   * (`among`). Both default to `limit`.
   */
  share?: { alone: number; among: number }
  /**
   * Shared by the limits of one resource, so that a party that asks one of them counts as present
   * for all of them.
   */
  crowd?: Crowd
  /** How many requests of one party may wait. One more is refused with `rate_limited:<name>`. */
  bound: number
  /** How long a request may wait before it is refused with 503. */
  withinMs: number
  /** What callers wait for, as a refusal names it. */
  name: string
}

interface Waiting {
  start(): void
  refuse(cause: AppError): void
  /** Monotonic time. */
  until: number
}

/** Whether a caller waits for the work (`asked`) or nobody does (`unasked`). */
export type Demand = 'asked' | 'unasked'

/** How long other parties count as present after one of them has asked. */
const OTHERS_FOR_MS = 250

/** Whether more than one party has asked recently. */
export class Crowd {
  #last: string | undefined
  /** Monotonic time of the last request that came from another party than the request before it. */
  #othersAt = Number.NEGATIVE_INFINITY

  noted(party: string): void {
    if (this.#last !== undefined && this.#last !== party) this.#othersAt = performance.now()
    this.#last = party
  }

  get isThere(): boolean {
    return performance.now() - this.#othersAt < OTHERS_FOR_MS
  }
}

/** How many asked requests run before one unasked request does. */
const ASKED_BEFORE_UNASKED = 3

/**
 * A limit on what runs at once, granted to parties round-robin: a party that floods it waits behind
 * its own requests and does not delay those of others. Within each demand, a party's requests keep
 * their order.
 */
export class FairLimit {
  #running = 0
  readonly #runningOf = new Map<string, number>()
  /**
   * In round-robin order, which is insertion order: a party that has been served goes to the end.
   */
  readonly #waiting: Record<Demand, Map<string, Waiting[]>> = {
    asked: new Map(),
    unasked: new Map(),
  }
  #askedInRow = 0
  /** Runs while anything waits. */
  #patience: Timer | undefined
  readonly #share: { alone: number; among: number }
  readonly #crowd: Crowd

  constructor(private readonly options: FairLimitOptions) {
    this.#share = options.share ?? { alone: options.limit, among: options.limit }
    this.#crowd = options.crowd ?? new Crowd()
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
   * Takes a place, which `leave` returns. Returns undefined if a place was free, which saves a
   * promise. Otherwise the place is taken when the promise resolves; a promise that rejects has
   * taken none. Throws `rate_limited` if too many requests of the party are waiting.
   */
  enter(party: string, demand: Demand = 'asked'): Promise<void> | undefined {
    this.#crowd.noted(party)
    // While a place is free, every party that waits already has its share, so hardly anybody is
    // passed over.
    if (this.#running < this.options.limit && this.#hasRoom(party)) {
      this.#begin(party)
      return undefined
    }
    const { bound, withinMs, name } = this.options
    const waiting = this.#waiting[demand]
    const own = waiting.get(party) ?? []
    if (own.length >= bound) throw new AppError('rate_limited', name, { retryAfter: 1 })
    waiting.set(party, own)
    this.#patience ??= setTimeout(this.#refuseLate, withinMs)
    return new Promise((start, refuse) =>
      own.push({ start, refuse, until: performance.now() + withinMs }),
    )
  }

  /** Returns the place of a party. It goes to the next party that waits. */
  leave(party: string): void {
    this.#running--
    const left = this.#runningOf.get(party)! - 1
    if (left > 0) this.#runningOf.set(party, left)
    else this.#runningOf.delete(party)
    if (!this.#patience) return
    this.#next()
    const { asked, unasked } = this.#waiting
    if (asked.size > 0 || unasked.size > 0) return
    clearTimeout(this.#patience)
    this.#patience = undefined
  }

  /**
   * Runs work that gives up its place after `ms` but carries on, so that work that hangs delays
   * nobody for longer than that.
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

  #hasRoom(party: string): boolean {
    const { alone, among } = this.#share
    return (this.#runningOf.get(party) ?? 0) < (this.#crowd.isThere ? among : alone)
  }

  #begin(party: string): void {
    this.#running++
    this.#runningOf.set(party, (this.#runningOf.get(party) ?? 0) + 1)
  }

  #next(): void {
    while (this.#running < this.options.limit) {
      const order: Demand[] =
        this.#askedInRow < ASKED_BEFORE_UNASKED ? ['asked', 'unasked'] : ['unasked', 'asked']
      const started = order.find((demand) => this.#startOne(this.#waiting[demand]))
      if (!started) return
      this.#askedInRow = started === 'asked' ? this.#askedInRow + 1 : 0
    }
  }

  /** Starts one request of the next party that has room. False if there is none. */
  #startOne(waiting: Map<string, Waiting[]>): boolean {
    for (const [party, own] of waiting) {
      if (!this.#hasRoom(party)) continue
      const { start } = own.shift()!
      waiting.delete(party)
      if (own.length > 0) waiting.set(party, own)
      this.#begin(party)
      start()
      return true
    }
    return false
  }

  /**
   * A caller now waits for what a party has queued, so the party's unasked requests become asked
   * ones.
   */
  hurry(party: string): void {
    const { asked, unasked } = this.#waiting
    const own = unasked.get(party)
    if (!own) return
    unasked.delete(party)
    asked.set(party, [...(asked.get(party) ?? []), ...own])
  }

  /**
   * Refuses requests that have waited too long. One timer serves all of them, because a timer for
   * each would cost more than the rest of a turn.
   */
  #refuseLate = (): void => {
    const now = performance.now()
    let soonest = Number.POSITIVE_INFINITY
    for (const waiting of [this.#waiting.asked, this.#waiting.unasked])
      for (const [party, own] of waiting) {
        const rest = own.filter((entry) => entry.until > now)
        if (rest.length === 0) waiting.delete(party)
        else waiting.set(party, rest)
        for (const { until, refuse } of own) {
          if (until > now) soonest = Math.min(soonest, until)
          else
            refuse(
              new AppError('unavailable', `too busy: no ${this.options.name} became free in time`, {
                retryAfter: 1,
              }),
            )
        }
      }
    this.#patience =
      soonest === Number.POSITIVE_INFINITY ? undefined : setTimeout(this.#refuseLate, soonest - now)
  }
}
