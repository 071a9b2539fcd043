import { AppError } from '#kernel/errors'

/** `control`: kill switch, cancel, publish outcomes. `interactive`: requests. `background`: other lane results, timers. */
export type Priority = 'control' | 'interactive' | 'background'

/** What a mailbox must know of a letter. */
export interface Posted {
  priority: Priority
  /** Shares its commit with no other letter. */
  alone: boolean
}

/** Runs a letter; may take the next in order into the same group, as long as `more` gives one. Never rejects. */
export type Serve<T> = (letter: T, more: () => T | undefined) => Promise<void>

export interface MailboxOptions {
  /** Interactive letters that may wait; one more is refused with 429. Lane outcomes are bounded by the lanes, not by this. */
  bound?: number
  /** A waiting background letter goes after this many interactive ones at most. */
  burst?: number
}

/** A first-in, first-out queue whose shift costs no copying. */
class Fifo<T> {
  #items: T[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  get first(): T | undefined {
    return this.#items[this.#head]
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
 * Groups of letters run strictly one at a time: control before interactive before background, in order of arrival within each, with
 * one background letter after at most `burst` interactive ones.
 */
export class Mailbox<T extends Posted> {
  readonly #queues: Record<Priority, Fifo<T>> = { control: new Fifo(), interactive: new Fifo(), background: new Fifo() }
  readonly #bound: number
  readonly #burst: number
  #sinceBackground = 0
  #running: Promise<void> | undefined

  constructor(
    private readonly serve: Serve<T>,
    { bound = 1_000, burst = 16 }: MailboxOptions = {},
  ) {
    this.#bound = bound
    this.#burst = burst
  }

  /** Letters waiting, the running one not counted. */
  get waiting(): number {
    return this.#queues.control.size + this.#queues.interactive.size + this.#queues.background.size
  }

  /** True when nothing waits and nothing runs. */
  get idle(): boolean {
    return this.#running === undefined && this.waiting === 0
  }

  /** Throws `rate_limited:mailbox` when too many requests wait. */
  post(letter: T): void {
    if (letter.priority === 'interactive' && this.#queues.interactive.size >= this.#bound)
      throw new AppError('rate_limited', 'mailbox', { retryAfter: 1 })
    this.#queues[letter.priority].push(letter)
    this.#running ??= this.#drain()
  }

  /** Resolves when everything posted so far, and what that posted, has run. */
  async drained(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #drain(): Promise<void> {
    // Begins in a later microtask, so that a sender always has its promise before its letter runs.
    await undefined
    const more = () => (this.#queues[this.#next()].first?.alone === false ? this.#take() : undefined)
    for (let letter = this.#take(); letter; letter = this.#take()) await this.serve(letter, letter.alone ? () => undefined : more)
    this.#running = undefined
  }

  #next(): Priority {
    const { control, interactive, background } = this.#queues
    if (control.size > 0) return 'control'
    return background.size > 0 && (interactive.size === 0 || this.#sinceBackground >= this.#burst) ? 'background' : 'interactive'
  }

  #take(): T | undefined {
    const priority = this.#next()
    if (priority === 'background') this.#sinceBackground = 0
    if (priority === 'interactive') this.#sinceBackground = this.#queues.background.size > 0 ? this.#sinceBackground + 1 : 0
    return this.#queues[priority].shift()
  }
}
