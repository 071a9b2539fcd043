import { AppError } from './errors.ts'

export interface TurnsOptions {
  /** How many may run at once. */
  limit: number
  /** How many of one party may wait; one more is refused with `rate_limited:<name>`. */
  bound: number
  /** How long one may wait before it is refused with 503. */
  withinMs: number
  /** What is waited for, as callers see it in the refusal. */
  name: string
}

interface Waiting {
  start(): void
  timer: Timer
}

/**
 * A limit on what runs at once, granted to parties in turn: who asks a thousand times waits behind himself, not before the
 * others. Each party's own order is kept.
 */
export class Turns {
  #running = 0
  /** Insertion order is the order of turns: a party that had its turn goes to the end. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(private readonly options: TurnsOptions) {}

  async run<T>(party: string, work: () => Promise<T>): Promise<T> {
    const turn = this.#admitted(party)
    if (turn) await turn
    try {
      return await work()
    } finally {
      this.#running--
      this.#next()
    }
  }

  #admitted(party: string): Promise<void> | undefined {
    const { limit, bound, withinMs, name } = this.options
    if (this.#running < limit && this.#waiting.size === 0) {
      this.#running++
      return undefined
    }
    const own = this.#waiting.get(party) ?? []
    if (own.length >= bound) throw new AppError('rate_limited', name, { retryAfter: 1 })
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#remove(party, entry)
        reject(new AppError('unavailable', `too busy: no ${name} became free in time`, { retryAfter: 1 }))
      }, withinMs)
      const entry: Waiting = { timer, start: resolve }
      own.push(entry)
      this.#waiting.set(party, own)
      this.#next()
    })
  }

  #next(): void {
    while (this.#running < this.options.limit) {
      const [turn] = this.#waiting
      if (!turn) return
      const [party, own] = turn
      const entry = own.shift()
      this.#waiting.delete(party)
      if (own.length > 0) this.#waiting.set(party, own)
      if (!entry) continue
      clearTimeout(entry.timer)
      this.#running++
      entry.start()
    }
  }

  #remove(party: string, entry: Waiting): void {
    const own = this.#waiting.get(party)
    if (!own) return
    const rest = own.filter((other) => other !== entry)
    if (rest.length === 0) this.#waiting.delete(party)
    else this.#waiting.set(party, rest)
  }
}
