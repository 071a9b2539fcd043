import type { Clock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import type { Answer } from './letter.ts'

interface Waiter {
  settle(answer: Answer | AppError | 'late'): void
}

/** Callers waiting for the work on a record to supply their reply, each for a bounded time. */
export class Waiters {
  readonly #byRecord = new Map<string, Set<Waiter>>()

  constructor(
    private readonly clock: Clock,
    private readonly withinMs: number,
  ) {}

  get idle(): boolean {
    return this.#byRecord.size === 0
  }

  has(refId: string): boolean {
    return this.#byRecord.has(refId)
  }

  /** The answer, or `late` if it takes too long. Rejects if the answer is an error. */
  wait(refId: string, withinMs = this.withinMs): Promise<Answer | 'late'> {
    const waiting = new Promise<Answer | 'late'>((resolve, reject) => {
      const waiter: Waiter = {
        settle(answer) {
          timer[Symbol.dispose]()
          if (answer instanceof AppError) reject(answer)
          else resolve(answer)
        },
      }
      const timer = this.clock.after(withinMs, () => this.#giveUp(refId, waiter))
      const others = this.#byRecord.get(refId)
      if (others) others.add(waiter)
      else this.#byRecord.set(refId, new Set([waiter]))
    })
    // The caller may be gone: an unhandled rejection must not end the process.
    waiting.catch(() => {})
    return waiting
  }

  /** Ends all waiting: every caller gets the record as it is. */
  allLate(): void {
    for (const refId of [...this.#byRecord.keys()]) this.settle(refId, 'late')
  }

  rejectAll(error: AppError): void {
    for (const refId of [...this.#byRecord.keys()]) this.settle(refId, error)
  }

  /** Gives the answer to all callers waiting for this record. */
  settle(refId: string, answer: Answer | AppError | 'late'): void {
    const waiters = this.#byRecord.get(refId)
    this.#byRecord.delete(refId)
    for (const waiter of waiters ?? []) waiter.settle(answer)
  }

  #giveUp(refId: string, waiter: Waiter): void {
    const waiters = this.#byRecord.get(refId)
    waiters?.delete(waiter)
    if (waiters?.size === 0) this.#byRecord.delete(refId)
    waiter.settle('late')
  }
}
