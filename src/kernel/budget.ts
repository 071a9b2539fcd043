import type { Clock } from './clock.ts'
import { AppError } from './errors.ts'

export interface BudgetOptions {
  /** How much may be in use at once. */
  total: number
  /** How much of `total` one party may use. */
  share: number
  /**
   * How many reservations may wait. Their amounts have the same bounds as what is in use: `total`,
   * and `share` for one party.
   */
  waiters: number
  /** How long a reservation waits for room before it is refused. */
  withinMs: number
  /** The name of what is reserved, as a refusal gives it. */
  name: string
}

/** Disposing returns the amount, once. */
export interface Reservation extends Disposable {
  /** Keeps `amount` and returns the rest. Never takes more than was reserved. */
  shrink(amount: number): void
}

interface Waiting {
  amount: number
  start(): void
  refuse(): void
}

/** Amounts, reserved or waiting, by party. */
class Amounts {
  total = 0
  readonly #of = new Map<string, number>()

  of(party: string): number {
    return this.#of.get(party) ?? 0
  }

  add(party: string, amount: number): void {
    this.total += amount
    const left = this.of(party) + amount
    if (left > 0) this.#of.set(party, left)
    else this.#of.delete(party)
  }
}

const largestOf = (
  parties: Iterable<string>,
  size: (party: string) => number,
): string | undefined => {
  let largest: string | undefined
  for (const party of parties)
    if (largest === undefined || size(party) > size(largest)) largest = party
  return largest
}

/**
 * A bounded amount of something, such as memory, of which each request needs a different part.
 * Reservations that do not fit wait. Parties take turns, so that a party with many reservations
 * waits behind its own and delays nobody else. When the queue is full, the party that waits for the
 * most gives up its latest place to a party that waits for less.
 */
export class Budget {
  readonly #used = new Amounts()
  readonly #requested = new Amounts()
  /** In the order of turns: a party that has had its turn moves to the end. */
  readonly #waiting = new Map<string, Waiting[]>()
  #waiters = 0
  /** Whether the reservation whose turn it is waits for room in `total`. */
  #blocked = false

  constructor(
    private readonly options: BudgetOptions,
    private readonly clock: Clock,
  ) {}

  /** The amount in use. */
  get used(): number {
    return this.#used.total
  }

  /** How many reservations wait. */
  get waiters(): number {
    return this.#waiters
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
    const amount = Math.min(requested, this.options.share)
    const isNext = !this.#blocked && !this.#waiting.has(party)
    if (isNext && this.#fits(this.#used, party, amount)) return this.#take(party, amount)
    if (!this.#hasPlace(party, amount)) throw this.#refusal()
    return this.#wait(party, amount, signal?.())
  }

  /**
   * Whether one more reservation may wait. To make room, it refuses reservations of the parties
   * that wait for the most.
   */
  #hasPlace(party: string, amount: number): boolean {
    const { total, share, waiters } = this.options
    if (this.#requested.of(party) + amount > share) return false
    for (;;) {
      const full = this.#waiters >= waiters
      if (!full && this.#requested.total + amount <= total) return true
      const size = full
        ? (name: string) => this.#waiting.get(name)?.length ?? 0
        : (name: string) => this.#requested.of(name)
      const largest = largestOf(this.#waiting.keys(), size)
      if (largest === undefined || size(largest) <= size(party) + (full ? 1 : amount)) return false
      this.#waiting.get(largest)!.at(-1)!.refuse()
    }
  }

  #wait(party: string, amount: number, signal: AbortSignal | undefined): Promise<Reservation> {
    const { promise, resolve, reject } = Promise.withResolvers<Reservation>()
    const leave = (cause: unknown) => {
      this.#leave(party, entry)
      settle()
      reject(cause)
      this.#next()
    }
    const onAbort = () => leave(signal?.reason)
    const timer = this.clock.after(this.options.withinMs, () => entry.refuse())
    const settle = () => {
      timer[Symbol.dispose]()
      signal?.removeEventListener('abort', onAbort)
    }
    const entry: Waiting = {
      amount,
      start: () => {
        this.#leave(party, entry)
        settle()
        resolve(this.#take(party, amount))
      },
      refuse: () => leave(this.#refusal()),
    }
    signal?.addEventListener('abort', onAbort)
    const own = this.#waiting.get(party)
    if (own) own.push(entry)
    else this.#waiting.set(party, [entry])
    this.#waiters++
    this.#requested.add(party, amount)
    this.#next()
    return promise
  }

  #refusal(): AppError {
    return new AppError('unavailable', `too many ${this.options.name} are under way, try again`, {
      retryAfter: 1,
    })
  }

  #fits(amounts: Amounts, party: string, amount: number): boolean {
    return (
      amounts.total + amount <= this.options.total &&
      amounts.of(party) + amount <= this.options.share
    )
  }

  #take(party: string, amount: number): Reservation {
    let held = amount
    this.#used.add(party, amount)
    const shrink = (to: number) => {
      if (to >= held) return
      this.#used.add(party, to - held)
      held = to
      if (this.#waiters > 0) this.#next()
    }
    return { shrink, [Symbol.dispose]: () => shrink(0) }
  }

  /** Starts the reservations for which there is room now, party by party. */
  #next(): void {
    this.#blocked = false
    for (const [party, own] of this.#waiting) {
      const first = own[0]!
      if (this.#used.of(party) + first.amount > this.options.share) continue
      // Nothing overtakes it: a steady flow of smaller amounts would keep it waiting forever.
      this.#blocked = this.#used.total + first.amount > this.options.total
      if (this.#blocked) return
      first.start()
      if (own.length === 0) continue
      this.#waiting.delete(party)
      this.#waiting.set(party, own)
    }
  }

  #leave(party: string, entry: Waiting): void {
    const own = this.#waiting.get(party)!
    own.splice(own.indexOf(entry), 1)
    if (own.length === 0) this.#waiting.delete(party)
    this.#waiters--
    this.#requested.add(party, -entry.amount)
  }
}
