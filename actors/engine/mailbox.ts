import { AppError } from '#kernel/errors'
import { withoutFields } from '#kernel/log'

/**
 * `control`: kill switch, cancel, results of sends. `interactive`: requests. `background`: other
 * lane outcomes, timers.
 */
export type Priority = 'control' | 'interactive' | 'background'

/** The part of a letter that the mailbox uses. */
export interface Posted {
  priority: Priority
  /** Shares its commit with no other letter. */
  alone: boolean
  /** When it came, in monotonic time, if somebody measures how long letters wait. */
  since?: number | undefined
}

/** What waits in some mailboxes. */
export type Queued = Record<Priority, number> & {
  /** Monotonic time; infinite if nothing waits. */
  oldest: number
}

/** The letters waiting behind a running one, as far as they can join its group. */
export interface Following<T> {
  take(): T | undefined
  /** The one that `take` would return. */
  first(): T | undefined
}

/** Runs a letter, and the letters that it takes into its group. Never rejects. */
export type Serve<T> = (letter: T, following: Following<T>) => Promise<void>

export interface MailboxOptions {
  /**
   * The most interactive letters that can wait; any more are refused with 429. The lanes limit
   * their own outcomes.
   */
  bound?: number
  /** A waiting background letter goes after at most this many interactive ones. */
  burst?: number
}

/** For a letter that shares its commit with no other. */
export const nobody: Following<never> = { take: () => undefined, first: () => undefined }

/**
 * A first-in, first-out queue. Taking an item copies nothing, and the queue keeps no reference to
 * it.
 */
class Fifo<T> {
  #items: (T | undefined)[] = []
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
    const item = this.#items[this.#head]
    this.#items[this.#head++] = undefined
    if (this.size === 0 || (this.#head > 1_024 && this.#head * 2 > this.#items.length)) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}

/**
 * Runs groups of letters strictly one at a time: control before interactive before background, in
 * order of arrival within each, with one background letter after at most `burst` interactive ones.
 */
export class Mailbox<T extends Posted> {
  readonly #queues: Record<Priority, Fifo<T>> = {
    control: new Fifo(),
    interactive: new Fifo(),
    background: new Fifo(),
  }
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

  /** The number of waiting letters, without the running one. */
  get waiting(): number {
    return this.#queues.control.size + this.#queues.interactive.size + this.#queues.background.size
  }

  /** Adds the letters that wait here. */
  addTo(sum: Queued): void {
    for (const priority of ['control', 'interactive', 'background'] as const) {
      const { size, first } = this.#queues[priority]
      sum[priority] += size
      if (first?.since !== undefined && first.since < sum.oldest) sum.oldest = first.since
    }
  }

  /** Whether a control letter is waiting. */
  get urgent(): boolean {
    return this.#queues.control.size > 0
  }

  /** Whether nothing is waiting or running. */
  get idle(): boolean {
    return this.#running === undefined && this.waiting === 0
  }

  /** Throws `rate_limited:mailbox` if too many requests are waiting. */
  post(letter: T): void {
    if (letter.priority === 'interactive' && this.#queues.interactive.size >= this.#bound)
      throw new AppError('rate_limited', 'mailbox', { retryAfter: 1 })
    this.#queues[letter.priority].push(letter)
    // The letters that follow belong to other callers, not to the sender of the first.
    this.#running ??= withoutFields(() => this.#drain())
  }

  /** Resolves when everything posted so far has run, and everything that those letters posted. */
  async drained(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #drain(): Promise<void> {
    // Starts in a later microtask, so that senders get their promises before their letters run.
    await undefined
    const first = () => {
      const next = this.#queues[this.#next()].first
      return next?.alone === false ? next : undefined
    }
    const following = { first, take: () => (first() ? this.#take() : undefined) }
    for (let letter = this.#take(); letter; letter = this.#take())
      await this.serve(letter, letter.alone ? nobody : following)
    this.#running = undefined
  }

  #next(): Priority {
    const { control, interactive, background } = this.#queues
    if (control.size > 0) return 'control'
    return background.size > 0 && (interactive.size === 0 || this.#sinceBackground >= this.#burst)
      ? 'background'
      : 'interactive'
  }

  #take(): T | undefined {
    const priority = this.#next()
    if (priority === 'background') this.#sinceBackground = 0
    if (priority === 'interactive')
      this.#sinceBackground = this.#queues.background.size > 0 ? this.#sinceBackground + 1 : 0
    return this.#queues[priority].shift()
  }
}
