import type { Clock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import type { Answer } from './letter.ts'

interface Waiter {
  settle(answer: Answer | AppError | 'late'): void
}

/** Callers that wait for the work on a record to give their reply; each for a bounded time of its own. */
export class Waiters {
  readonly #byRecord = new Map<string, Set<Waiter>>()

  constructor(
    private readonly clock: Clock,
    private readonly withinMs: number,
  ) {}

  /** True when nobody waits. */
  get idle(): boolean {
    return this.#byRecord.size === 0
  }

  /** Whether anybody waits for this record. */
  has(refId: string): boolean {
    return this.#byRecord.has(refId)
  }

  /** The answer, or `late` when it takes too long. Rejects when the answer is an error. */
  wait(refId: string): Promise<Answer | 'late'> {
    const waiting = new Promise<Answer | 'late'>((resolve, reject) => {
      const waiter: Waiter = {
        settle(answer) {
          timer[Symbol.dispose]()
          if (answer instanceof AppError) reject(answer)
          else resolve(answer)
        },
      }
      const timer = this.clock.after(this.withinMs, () => this.#giveUp(refId, waiter))
      const others = this.#byRecord.get(refId)
      if (others) others.add(waiter)
      else this.#byRecord.set(refId, new Set([waiter]))
    })
    // The caller may have gone away meanwhile; an answer nobody reads is no failure of the process.
    waiting.catch(() => {})
    return waiting
  }

  /** Nobody waits any longer: each gets the record as it stands. */
  allLate(): void {
    for (const refId of [...this.#byRecord.keys()]) this.settle(refId, 'late')
  }

  rejectAll(error: AppError): void {
    for (const refId of [...this.#byRecord.keys()]) this.settle(refId, error)
  }

  /** Gives the answer to everybody who waits for this record. */
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
