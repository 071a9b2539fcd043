import type { Clock } from '#kernel/clock'
import { AppError } from '#kernel/errors'
import type { Answer } from './letter.ts'

interface Waiter {
  settle(answer: Answer | AppError | 'late'): void
}

/** Callers that wait for the work on a record to give their reply; each for a bounded time. */
export class Waiters {
  readonly #byRecord = new Map<string, Waiter>()

  constructor(
    private readonly clock: Clock,
    private readonly withinMs: number,
  ) {}

  /** The answer, or `late` when it takes too long. Rejects when the answer is an error. One caller waits per record. */
  wait(refId: string): Promise<Answer | 'late'> {
    const waiting = new Promise<Answer | 'late'>((resolve, reject) => {
      const timer = this.clock.after(this.withinMs, () => this.settle(refId, 'late'))
      this.#byRecord.set(refId, {
        settle(answer) {
          timer[Symbol.dispose]()
          if (answer instanceof AppError) reject(answer)
          else resolve(answer)
        },
      })
    })
    // The caller may have gone away meanwhile; an answer nobody reads is no failure of the process.
    waiting.catch(() => {})
    return waiting
  }

  get idle(): boolean {
    return this.#byRecord.size === 0
  }

  /** Nobody waits any longer: each gets the record as it stands. */
  allLate(): void {
    for (const refId of [...this.#byRecord.keys()]) this.settle(refId, 'late')
  }

  rejectAll(error: AppError): void {
    for (const refId of [...this.#byRecord.keys()]) this.settle(refId, error)
  }

  settle(refId: string, answer: Answer | AppError | 'late'): void {
    const waiter = this.#byRecord.get(refId)
    this.#byRecord.delete(refId)
    waiter?.settle(answer)
  }
}
