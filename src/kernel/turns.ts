import { AppError } from './errors.ts'

export interface TurnsOptions {
  /** How many may run at once. */
  limit: number
  /** How many of one party may; by default as many. */
  share?: number
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
  readonly #runningOf = new Map<string, number>()
  /** Insertion order is the order of turns: a party that had its turn goes to the end. */
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #share: number

  constructor(private readonly options: TurnsOptions) {
    this.#share = options.share ?? options.limit
  }

  async run<T>(party: string, work: () => Promise<T>): Promise<T> {
    const turn = this.#admitted(party)
    if (turn) await turn
    try {
      return await work()
    } finally {
      this.#end(party)
      this.#next()
    }
  }

  #admitted(party: string): Promise<void> | undefined {
    // While something is free, whoever waits has its share already: nobody is passed over.
    if (this.#running < this.options.limit && this.#hasRoom(party)) {
      this.#begin(party)
      return undefined
    }
    const { bound, withinMs, name } = this.options
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
    })
  }

  #hasRoom(party: string): boolean {
    return (this.#runningOf.get(party) ?? 0) < this.#share
  }

  #begin(party: string): void {
    this.#running++
    this.#runningOf.set(party, (this.#runningOf.get(party) ?? 0) + 1)
  }

  #end(party: string): void {
    this.#running--
    const left = this.#runningOf.get(party)! - 1
    if (left > 0) this.#runningOf.set(party, left)
    else this.#runningOf.delete(party)
  }

  #next(): void {
    for (const [party, own] of this.#waiting) {
      if (this.#running >= this.options.limit) return
      if (!this.#hasRoom(party)) continue
      const entry = own.shift()!
      this.#waiting.delete(party)
      if (own.length > 0) this.#waiting.set(party, own)
      clearTimeout(entry.timer)
      this.#begin(party)
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
