import type { Clock } from './clock.ts'
import { AppError } from './errors.ts'

export interface BudgetOptions {
  /** How much may be in use at once. */
  total: number
  /** How much of that one party may use. */
  share: number
  /** How many reservations may wait. What they ask for is bounded as what is in use is: by `total`, and for one party by `share`. */
  waiters: number
  /** How long a reservation waits for room before it is refused. */
  withinMs: number
  /** What is reserved, as callers see it in the refusal. */
  name: string
}

/** Gives back what it holds when disposed of, once. */
export interface Reservation extends Disposable {
  /** Keeps only `amount` and gives the rest back, when less is needed than was reserved. Never takes more. */
  shrink(amount: number): void
}

interface Waiting {
  amount: number
  start(): void
}

/** Amounts of one thing, reserved or waiting, by party. */
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

/**
 * A bounded amount of something that every request takes a different part of, such as memory. What does not fit waits; parties
 * have their turns one after the other, so that one with many reservations waits behind its own, not before those of others.
 */
export class Budget {
  readonly #used = new Amounts()
  readonly #asked = new Amounts()
  /** Insertion order is the order of turns: a party that had its turn goes to the end. */
  readonly #waiting = new Map<string, Waiting[]>()
  #waiters = 0
  /** Whether the reservation whose turn it is waits for room in the whole. */
  #blocked = false

  constructor(
    private readonly options: BudgetOptions,
    private readonly clock: Clock,
  ) {}

  /** How much is in use. */
  get used(): number {
    return this.#used.total
  }

  /** How many reservations wait. */
  get waiters(): number {
    return this.#waiters
  }

  /**
   * Waits for room when there is none. More than a share counts as a whole share. Fails with 503 when none became free in
   * time, or at once when too much waits already, and with the signal's reason when it aborts.
   */
  reserve(party: string, wanted: number, signal?: () => AbortSignal): Reservation | Promise<Reservation> {
    const amount = Math.min(wanted, this.options.share)
    const isNext = !this.#blocked && !this.#waiting.has(party)
    if (isNext && this.#fits(this.#used, party, amount)) return this.#take(party, amount)
    if (this.#waiters >= this.options.waiters || !this.#fits(this.#asked, party, amount)) throw this.#refusal()
    return this.#wait(party, amount, signal?.())
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
    const timer = this.clock.after(this.options.withinMs, () => leave(this.#refusal()))
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
    }
    signal?.addEventListener('abort', onAbort)
    const own = this.#waiting.get(party)
    if (own) own.push(entry)
    else this.#waiting.set(party, [entry])
    this.#waiters++
    this.#asked.add(party, amount)
    this.#next()
    return promise
  }

  #refusal(): AppError {
    return new AppError('unavailable', `too many ${this.options.name} are under way, try again`, { retryAfter: 1 })
  }

  #fits(amounts: Amounts, party: string, amount: number): boolean {
    return amounts.total + amount <= this.options.total && amounts.of(party) + amount <= this.options.share
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

  /** Starts what has room now, a party after the other. */
  #next(): void {
    this.#blocked = false
    for (const [party, own] of this.#waiting) {
      const first = own[0]!
      if (this.#used.of(party) + first.amount > this.options.share) continue
      // Nobody overtakes it: smaller amounts that come all the time would keep it waiting for ever.
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
    this.#asked.add(party, -entry.amount)
  }
}
