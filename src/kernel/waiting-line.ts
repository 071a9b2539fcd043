import { Amounts } from './amounts.ts'
import type { Clock } from './clock.ts'
import type { AppError } from './errors.ts'

/** Whether a caller waits for the work (`asked`) or nobody does (`unasked`). */
export type Demand = 'asked' | 'unasked'

interface Waiting {
  amount: number
  /** Monotonic time. */
  until: number
  start(): void
  refuse(cause: unknown): void
}

/**
 * Takes what a request needs. `passed`: there is too little for its party, so others go first.
 * `blocked`: there is too little in all, so nobody does.
 */
type Take = (party: string, amount: number) => 'taken' | 'passed' | 'blocked'

interface LineOptions {
  clock: Clock
  withinMs: number
  /** The error for those who wait too long. */
  refusal(): AppError
  /** Called when somebody has left without a start. */
  onLeft(): void
}

/** One unasked request starts after this many asked ones. */
const ASKED_BEFORE_UNASKED = 3

/** Those who wait for a limit, served round-robin by party. Each party keeps its own order. */
export class WaitingLine {
  count = 0
  readonly requested = new Amounts()
  /** In the order of turns: a party that had its turn moves to the end. */
  readonly #by = { asked: new Map<string, Waiting[]>(), unasked: new Map<string, Waiting[]>() }
  #askedInRow = 0
  /** One timer for all who wait: one for each costs more than the rest of a turn. */
  #patience: Disposable | undefined

  constructor(private readonly options: LineOptions) {}

  countOf(party: string, demand: Demand = 'asked'): number {
    return this.#by[demand].get(party)?.length ?? 0
  }

  get parties(): Iterable<string> {
    return this.#by.asked.keys()
  }

  /** Rejects with the signal's reason if it aborts. */
  join(
    party: string,
    {
      amount,
      demand,
      signal,
    }: { amount: number; demand: Demand; signal?: AbortSignal | undefined },
  ): Promise<void> {
    const { clock, withinMs } = this.options
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      this.#remove(party, entry)
      entry.refuse(signal?.reason)
      this.options.onLeft()
    }
    const settle = () => signal?.removeEventListener('abort', leave)
    const entry: Waiting = {
      amount,
      until: clock.monotonic() + withinMs,
      start() {
        settle()
        resolve()
      },
      refuse(cause) {
        settle()
        reject(cause)
      },
    }
    signal?.addEventListener('abort', leave)
    const own = this.#by[demand].get(party)
    if (own) own.push(entry)
    else this.#by[demand].set(party, [entry])
    this.#counted(party, 1, amount)
    this.#patience ??= clock.after(withinMs, this.#refuseLate)
    return promise
  }

  /** The unasked requests of a party become asked ones. */
  hurry(party: string): void {
    const { asked, unasked } = this.#by
    const own = unasked.get(party)
    if (!own) return
    unasked.delete(party)
    asked.set(party, [...(asked.get(party) ?? []), ...own])
  }

  /** Starts those whose turn it is. Returns whether one of them blocked all others. */
  serve(take: Take): boolean {
    for (;;) {
      const order: Demand[] =
        this.#askedInRow < ASKED_BEFORE_UNASKED ? ['asked', 'unasked'] : ['unasked', 'asked']
      const outcome = this.#startOne(order, take)
      if (outcome !== 'taken') return outcome === 'blocked'
    }
  }

  #startOne(order: Demand[], take: Take): ReturnType<Take> {
    for (const demand of order)
      for (const [party, own] of this.#by[demand]) {
        const outcome = take(party, own[0]!.amount)
        if (outcome === 'passed') continue
        if (outcome === 'blocked') return outcome
        const { amount, start } = own.shift()!
        this.#by[demand].delete(party)
        if (own.length > 0) this.#by[demand].set(party, own)
        this.#askedInRow = demand === 'asked' ? this.#askedInRow + 1 : 0
        this.#counted(party, -1, -amount)
        start()
        return outcome
      }
    return 'passed'
  }

  /** Refuses the latest request of a party. */
  refuseLatest(party: string): void {
    this.#refuse(party, this.#by.asked.get(party)!.at(-1)!)
    this.options.onLeft()
  }

  #refuse(party: string, entry: Waiting): void {
    this.#remove(party, entry)
    entry.refuse(this.options.refusal())
  }

  #remove(party: string, entry: Waiting): void {
    for (const waiting of [this.#by.asked, this.#by.unasked]) {
      const own = waiting.get(party) ?? []
      const at = own.indexOf(entry)
      if (at === -1) continue
      own.splice(at, 1)
      if (own.length === 0) waiting.delete(party)
      this.#counted(party, -1, -entry.amount)
    }
  }

  #counted(party: string, change: 1 | -1, amount: number): void {
    this.count += change
    this.requested.add(party, amount)
    if (this.count > 0) return
    this.#patience?.[Symbol.dispose]()
    this.#patience = undefined
  }

  #refuseLate = (): void => {
    const { clock, onLeft } = this.options
    const now = clock.monotonic()
    let soonest = Number.POSITIVE_INFINITY
    for (const [party, own] of [...this.#by.asked, ...this.#by.unasked])
      for (const entry of [...own])
        if (entry.until > now) soonest = Math.min(soonest, entry.until)
        else this.#refuse(party, entry)
    this.#patience = this.count > 0 ? clock.after(soonest - now, this.#refuseLate) : undefined
    onLeft()
  }
}
