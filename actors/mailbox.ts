import { AppError } from '#kernel/errors'

/** `control`: kill switch, cancel, publish outcomes. `interactive`: requests. `background`: other lane results, timers. */
export type Priority = 'control' | 'interactive' | 'background'

type Run = () => Promise<void>

export interface MailboxOptions {
  /** Interactive letters that may wait; one more is refused with 429. Lane outcomes are bounded by the lanes, not by this. */
  bound?: number
  /** A waiting background letter goes after this many interactive ones at most. */
  turn?: number
}

/** A first-in, first-out queue whose shift costs no copying. */
class Fifo<T> {
  #items: T[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.#items[this.#head++]
    if (this.#head > 1_024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}

/**
 * Letters run strictly one at a time: control before interactive before background, in order of arrival within each, with
 * one background letter after at most `turn` interactive ones. A letter's own failure is its sender's, never the queue's.
 */
export class Mailbox {
  readonly #queues: Record<Priority, Fifo<Run>> = { control: new Fifo(), interactive: new Fifo(), background: new Fifo() }
  readonly #bound: number
  readonly #turn: number
  #sinceBackground = 0
  #running: Promise<void> | undefined

  constructor({ bound = 1_000, turn = 16 }: MailboxOptions = {}) {
    this.#bound = bound
    this.#turn = turn
  }

  /** Letters waiting, the running one not counted. */
  get waiting(): number {
    return this.#queues.control.size + this.#queues.interactive.size + this.#queues.background.size
  }

  /** True when nothing waits and nothing runs. */
  get idle(): boolean {
    return this.#running === undefined && this.waiting === 0
  }

  /** Resolves or rejects with what `run` does. Rejects with `rate_limited:mailbox` when too many requests wait. */
  post<T>(priority: Priority, run: () => Promise<T>): Promise<T> {
    if (priority === 'interactive' && this.#queues.interactive.size >= this.#bound)
      return Promise.reject(new AppError('rate_limited', 'mailbox', { retryAfter: 1 }))
    return new Promise<T>((resolve, reject) => {
      // `async`, so that a `run` that throws before it gives a promise fails its sender and not the queue.
      this.#queues[priority].push(() => (async () => run())().then(resolve, reject))
      this.#running ??= this.#drain()
    })
  }

  /** Resolves when everything posted so far, and what that posted, has run. */
  async drained(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #drain(): Promise<void> {
    // Begins in a later turn, so that a sender always has its promise before its letter runs.
    await undefined
    for (let run = this.#next(); run; run = this.#next()) await run()
    this.#running = undefined
  }

  #next(): Run | undefined {
    const { control, interactive, background } = this.#queues
    if (control.size > 0) return control.shift()
    const backgroundsTurn = background.size > 0 && (interactive.size === 0 || this.#sinceBackground >= this.#turn)
    if (backgroundsTurn) {
      this.#sinceBackground = 0
      return background.shift()
    }
    this.#sinceBackground = background.size > 0 ? this.#sinceBackground + 1 : 0
    return interactive.shift()
  }
}
